// Dragging along an axis keeps only the lines that pass the selection. A click resets it.
const drawing = document.getElementById("lines");
const lines = drawing ? [...drawing.querySelectorAll("polyline")] : [];
const at = lines.map((line) => line.dataset.at.split(" ").map(Number));
const passes = new Map();
const show = () => lines.forEach((line, index) => {
  const stays = [...passes].every(([axis, [low, high]]) => at[index][axis] >= low && at[index][axis] <= high);
  line.classList.toggle("off", !stays);
});
for (const grip of drawing ? drawing.querySelectorAll(".grip") : []) {
  const axis = Number(grip.dataset.axis);
  const brush = grip.previousElementSibling;
  let from = null;
  const place = (event) => {
    const box = grip.getBoundingClientRect();
    return Math.min(1, Math.max(0, 1 - (event.clientY - box.top) / box.height));
  };
  grip.addEventListener("pointerdown", (event) => {
    from = place(event);
    grip.setPointerCapture(event.pointerId);
    passes.delete(axis);
    brush.setAttribute("height", 0);
    show();
  });
  grip.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const to = place(event);
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    if (high - low < 0.005) return;
    passes.set(axis, [low, high]);
    const [top, height] = [Number(grip.getAttribute("y")), Number(grip.getAttribute("height"))];
    brush.setAttribute("y", top + height * (1 - high));
    brush.setAttribute("height", height * (high - low));
    show();
  });
  grip.addEventListener("pointerup", () => { from = null; });
}
