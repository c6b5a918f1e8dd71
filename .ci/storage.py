"""Helpers of .ci/storage: an S3 server, a proxy that cuts connections, and checks of stored objects.

    storage.py serve FOLDER                  starts both; writes ports and server process id to FOLDER/ports, and a line per cut to FOLDER/cut
    storage.py bucket URL                    creates the bucket with versioning
    storage.py same URL KEY FILE             checks that an object equals a file
    storage.py once URL KEY                  checks that an object was put exactly once
    storage.py absent URL KEY                checks that an object does not exist
    storage.py shards URL FOLDER             prints the number of shards of a plan
"""
import asyncio, json, pathlib, random, socket, struct, subprocess, sys


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def reset(writer):
    # Reset the connection. Python's server would take an orderly close within the head of a request for a complete request and
    # store an empty object; other servers do not.
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def serve(folder):
    folder = pathlib.Path(folder)
    direct, cutting = free_port(), free_port()
    server = subprocess.Popen([str(folder / "venv/bin/moto_server"), "-H", "127.0.0.1", "-p", str(direct)])
    seed = random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)

    async def pipe(reader, writer, room):
        while room[0] > 0 and (part := await reader.read(4096)):
            part = part[: room[0]]
            room[0] -= len(part)
            writer.write(part)
            await writer.drain()

    async def handle(reader, writer):
        # Two of five connections are cut, within the request or within the answer.
        is_truncated = chance.random() < 0.4
        up, down = [1 << 40], [1 << 40]
        if is_truncated:
            (up if chance.random() < 0.5 else down)[0] = chance.randrange(0, 3000)
        try:
            to_server, from_server = await asyncio.open_connection("127.0.0.1", direct)
            ways = ((reader, from_server, up), (to_server, writer, down))
            tasks = [asyncio.create_task(pipe(*way)) for way in ways]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if min(up[0], down[0]) <= 0:
                with (folder / "cut").open("a") as lines:
                    lines.write("cut\n")
                reset(from_server)
                reset(writer)
            from_server.close()
        except OSError:
            pass
        writer.transport.abort()

    async def run():
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", direct), 1).close()
                break
            except OSError:
                await asyncio.sleep(0.1)
        proxy = await asyncio.start_server(handle, "127.0.0.1", cutting)
        (folder / "ports").write_text(f"{direct} {cutting} {server.pid}\n")
        async with proxy:
            await proxy.serve_forever()

    asyncio.run(run())


def client(url):
    import boto3

    return boto3.client("s3", endpoint_url=url)


def main(what, *rest):
    if what == "serve":
        return serve(*rest)
    s3, rest = client(rest[0]), rest[1:]
    if what == "bucket":
        s3.create_bucket(Bucket="bucket")
        s3.put_bucket_versioning(Bucket="bucket", VersioningConfiguration={"Status": "Enabled"})
        return
    key = rest[0]
    versions = s3.list_object_versions(Bucket="bucket", Prefix=key).get("Versions", [])
    count = sum(one["Key"] == key for one in versions)
    if what == "same":
        there = s3.get_object(Bucket="bucket", Key=key)["Body"].read()
        if there != pathlib.Path(rest[1]).read_bytes():
            sys.exit(f"storage: {key} differs from {rest[1]}")
    elif what == "once" and count != 1:
        sys.exit(f"storage: {key} was put {count} times")
    elif what == "absent" and count != 0:
        sys.exit(f"storage: {key} exists")
    elif what == "shards":
        print(json.loads(s3.get_object(Bucket="bucket", Key=f"{key}/plan.json")["Body"].read())["shards"])


main(*sys.argv[1:])
