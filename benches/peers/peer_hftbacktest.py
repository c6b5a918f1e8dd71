"""pip install hftbacktest; python peer_hftbacktest.py candles.csv [candles]

hftbacktest uses order books, not candles: each close becomes a best bid and a best ask.
"""

import numpy as np
from hftbacktest import (
    BUY_EVENT, DEPTH_EVENT, EXCH_EVENT, GTC, LIMIT, LOCAL_EVENT, SELL_EVENT, BacktestAsset, HashMapMarketDepthBacktest,
)
from hftbacktest.types import event_dtype
from numba import njit

import work

TICK = 0.01
MINUTE = 60_000_000_000


def build_book(close):
    """Converts each close to four changes: old best prices are removed, new ones added."""
    events = np.zeros(4 * close.size, event_dtype)
    at = (np.arange(close.size) + 1) * MINUTE
    events["exch_ts"] = events["local_ts"] = np.repeat(at, 4)
    both = DEPTH_EVENT | EXCH_EVENT | LOCAL_EVENT
    bid, ask = np.round(close - TICK, 2), np.round(close + TICK, 2)
    for place, (side, price, quantity) in enumerate((
        (BUY_EVENT, np.roll(bid, 1), 0.0), (SELL_EVENT, np.roll(ask, 1), 0.0),
        (BUY_EVENT, bid, 1.0), (SELL_EVENT, ask, 1.0),
    )):
        events["ev"][place::4] = both | side
        events["px"][place::4] = price
        events["qty"][place::4] = quantity
    return events


@njit
def trade(hbt, period, low, high, hold):
    seen = opened = trades = orders = side = 0
    up = down = last = 0.0
    while hbt.elapse(MINUTE) == 0:
        depth = hbt.depth(0)
        close = (depth.best_bid + depth.best_ask) / 2.0
        seen += 1
        if seen > 1:
            change = close - last
            gain, loss = max(change, 0.0), max(-change, 0.0)
            if seen <= period + 1:
                up, down = up + gain / period, down + loss / period
            else:
                up, down = up + (gain - up) / period, down + (loss - down) / period
        last = close
        if side != 0:
            if seen - opened == hold:
                orders += 1
                if side > 0:
                    hbt.submit_sell_order(0, orders, depth.best_bid, 0.01, GTC, LIMIT, False)
                else:
                    hbt.submit_buy_order(0, orders, depth.best_ask, 0.01, GTC, LIMIT, False)
                trades += 1
                side = 0
        elif seen > period:
            rsi = 50.0 if up + down == 0.0 else 100.0 * up / (up + down)
            side = 1 if rsi < low else -1 if rsi > high else 0
            if side != 0:
                orders, opened = orders + 1, seen
                if side > 0:
                    hbt.submit_buy_order(0, orders, depth.best_ask, 0.01, GTC, LIMIT, False)
                else:
                    hbt.submit_sell_order(0, orders, depth.best_bid, 0.01, GTC, LIMIT, False)
        hbt.clear_inactive_orders(0)
    return trades


frame = work.candles(work.count(1_000_000))
events = build_book(frame["close"].to_numpy())


def run():
    asset = (
        BacktestAsset().data(events).linear_asset(1.0).constant_order_latency(0, 0).risk_adverse_queue_model()
        .no_partial_fill_exchange().trading_value_fee_model(0.0, 0.0).tick_size(TICK).lot_size(0.01)
    )
    hbt = HashMapMarketDepthBacktest([asset])
    trades = trade(hbt, work.PERIOD, work.LOW, work.HIGH, work.HOLD)
    hbt.close()
    return trades


# The first call compiles.
run()
# The clock may end one or two candles before the data.
work.measure("hftbacktest", frame, run, 3, allowed=0.01)
