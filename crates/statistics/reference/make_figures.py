"""Makes the reference figures of candlewick-statistics: see README.md in this folder.

SciPy and statsmodels are the libraries of the field; mpmath counts the same tails with 50 digits, because a
relative error of 1e-10 at ten million trades is finer than a second double-precision library can show.
"""

import csv
import itertools
from pathlib import Path

import mpmath
import numpy
import scipy.optimize
import scipy.stats
from statsmodels.sandbox.stats.runs import runstest_1samp
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

mpmath.mp.dps = 50
HERE = Path(__file__).parent
NULLS = [1 / 1.8, 1 / 1.85, 1 / 1.9, 0.5, 0.01, 0.999]


def write(name, header, rows):
    with open(HERE / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(name, len(rows), "rows")


def wilson():
    rows = []
    for won, lost in [(0, 1), (1, 0), (1, 1), (0, 20), (20, 0), (5, 15), (541, 459), (1, 9_999),
                      (5_555_556, 4_444_444), (9_999_999, 1)]:
        for confidence in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999]:
            lower, upper = proportion_confint(won, won + lost, alpha=1 - confidence, method="wilson")
            # statsmodels leaves rounding dust where the end is exactly 0 or 1, and subtracts near numbers for a
            # small lower end: the exact root decides, and statsmodels has to agree with it.
            exact = wilson_exact(won, won + lost, confidence)
            assert abs(lower - exact[0]) < 1e-13 and abs(upper - exact[1]) < 1e-13
            rows.append([won, lost, repr(confidence), repr(exact[0]), repr(exact[1])])
    write("wilson.csv", ["won", "lost", "confidence", "lower", "upper"], rows)


def wilson_exact(k, n, confidence):
    z = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(confidence))
    middle, spread = k + z**2 / 2, z * mpmath.sqrt(mpmath.mpf(k) * (n - k) / n + z**2 / 4)
    ends = [(middle - spread) / (n + z**2), (middle + spread) / (n + z**2)]
    return [float(mpmath.chop(end, 1e-40)) for end in ends]


def at_least(k, n, null):
    """P(X >= k) with 50 digits, term by term from the nearer end."""
    p = mpmath.mpf(null)
    q = 1 - p
    if k == 0:
        return mpmath.mpf(1)
    upper = k > n * p
    i = k if upper else k - 1
    term = mpmath.exp(mpmath.loggamma(n + 1) - mpmath.loggamma(i + 1) - mpmath.loggamma(n - i + 1)
                      + i * mpmath.log(p) + (n - i) * mpmath.log(q))
    total = mpmath.mpf(0)
    while term > total * mpmath.mpf(10)**-30:
        total += term
        if upper:
            if i == n:
                break
            term *= (n - i) * p / ((i + 1) * q)
            i += 1
        else:
            if i == 0:
                break
            term *= i * q / ((n - i + 1) * p)
            i -= 1
    return total if upper else 1 - total


def binomial():
    rows, worst = [], 0.0
    for n in [1, 2, 10, 37, 1_000, 12_345, 1_000_000, 10_000_000]:
        for null in NULLS:
            mean, deviation = n * null, (n * null * (1 - null)) ** 0.5
            wanted = {round(mean + shift * deviation) for shift in [-8, -3, -1, 0, 1, 2, 5, 12, 36]}
            for k in sorted({min(max(k, 0), n) for k in wanted} | ({0, n} if n < 50 else set())):
                exact = float(at_least(k, n, null))
                if exact < 1e-300:
                    continue
                scipy_says = scipy.stats.binom.sf(k - 1, n, null)
                worst = max(worst, abs(scipy_says / exact - 1))
                rows.append([k, n - k, repr(null), repr(exact)])
    print("binomial: SciPy differs by at most", worst)
    assert worst < 1e-9
    write("binomial.csv", ["won", "lost", "null", "p_value"], rows)


def poisson_binomial():
    rows, worst = [], 0.0
    payouts = [70.0, 80.0, 92.0]
    for counts in [(1, 1, 1), (10, 0, 5), (40, 100, 60), (300, 500, 200)]:
        nulls = [1 / (1 + payout / 100) for payout, count in zip(payouts, counts) for _ in range(count)]
        pmf = [mpmath.mpf(1)]
        for null in nulls:
            p = mpmath.mpf(null)
            pmf = [a * (1 - p) + b * p for a, b in zip(pmf + [0], [0] + pmf)]
        n, mean = len(nulls), sum(nulls)
        deviation = sum(p * (1 - p) for p in nulls) ** 0.5
        for k in sorted({min(max(round(mean + s * deviation), 0), n) for s in [-6, -2, 0, 1, 2, 4, 8, 20]} | {0, n}):
            exact = float(mpmath.fsum(pmf[k:]))
            if exact > 1e-9:
                worst = max(worst, abs(scipy.stats.poisson_binom.sf(k - 1, nulls) / exact - 1))
            rows.append([k, *counts, repr(exact)])
    print("Poisson-binomial: SciPy differs by at most", worst)
    assert worst < 1e-9
    write("poisson_binomial.csv", ["won", "at_70", "at_80", "at_92", "p_value"], rows)



def clopper_pearson():
    rows = []
    for won, lost in [(0, 1), (1, 0), (1, 1), (0, 20), (5, 15), (541, 459), (1, 9_999), (55_556, 44_444)]:
        for confidence in [0.5, 0.9, 0.95, 0.999]:
            n, tail = won + lost, (1 - confidence) / 2
            # The definition, solved with 50 digits: P(X >= won | lower) = P(X <= won | upper) = tail.
            lower, upper = proportion_confint(won, n, alpha=1 - confidence, method="beta")
            lower = 0.0 if won == 0 else lower
            upper = 1.0 if lost == 0 else upper
            if won:
                assert abs(at_least(won, n, lower) / tail - 1) < 1e-7
            if lost:
                assert abs((1 - at_least(won + 1, n, upper)) / tail - 1) < 1e-7
            rows.append([won, lost, repr(confidence), repr(float(lower)), repr(float(upper))])
    write("clopper_pearson.csv", ["won", "lost", "confidence", "lower", "upper"], rows)


def planner():
    rows = []
    for payout, points, alpha, power in [(85, 2, 0.05, 0.8), (85, 5, 0.05, 0.8), (85, 1, 0.05, 0.8), (80, 3, 0.05, 0.9),
                                         (92, 4, 0.01, 0.8), (70, 10, 0.05, 0.8), (85, 5, 0.01, 0.95)]:
        p0 = 1 / (1 + payout / 100)
        p1 = p0 + points / 100
        z = scipy.stats.norm.ppf
        spread = z(1 - alpha) * (p0 * (1 - p0)) ** 0.5 + z(power) * (p1 * (1 - p1)) ** 0.5
        normal_trades = round((spread / (p1 - p0)) ** 2)
        n = numpy.arange(1, 2 * normal_trades + 200)
        # The fewest wins whose upper tail is at most alpha.
        critical = scipy.stats.binom.isf(alpha, n, p0) + 1
        reached = scipy.stats.binom.sf(critical - 1, n, p1)
        exact = int(n[reached < power].max()) + 1
        rows.append([payout, points, repr(alpha), repr(power), normal_trades, exact])
    write("planner.csv", ["payout", "points", "alpha", "power", "normal_trades", "exact"], rows)


def benjamini_hochberg():
    p_values = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216, 0.222, 0.251, 0.269, 0.275,
                0.34, 0.341, 0.384, 0.569, 0.594, 0.696, 0.762, 0.94, 0.942, 0.975, 0.986, 0.039, 0.0, 1.0]
    adjusted = multipletests(p_values, method="fdr_bh")[1]
    rows = [[repr(p), repr(float(q))] for p, q in zip(p_values, adjusted)]
    write("benjamini_hochberg.csv", ["p_value", "adjusted"], rows)


def streaks():
    rows = []
    for length, trades, p in [(1, 1, 0.5), (3, 10, 0.5), (10, 1_000, 0.5), (7, 500, 0.46), (12, 1_000, 0.46),
                              (20, 10_000, 0.46), (5, 100, 0.1), (30, 100, 0.95)]:
        rows.append([length, trades, repr(p), repr(float(streak(length, trades, p)))])
    write("streaks.csv", ["length", "trades", "probability", "streak"], rows)



def overfitting():
    generator = numpy.random.default_rng(20261121)
    returns = numpy.round(generator.normal(0, 1, (97, 6)), 3)
    returns[:, 2] += 0.1
    returns[:, 5] = 0.5 * returns[:, 2] + 0.5 * returns[:, 4]
    returns = numpy.round(returns, 4)
    write("variants.csv", [f"variant_{i}" for i in range(6)], [[repr(float(x)) for x in row] for row in returns])

    rows = []
    for blocks, purged in [(2, 0), (4, 0), (6, 0), (8, 0), (8, 2), (10, 3), (12, 1)]:
        edges = [i * len(returns) // blocks for i in range(blocks + 1)]
        block_of = numpy.repeat(range(blocks), numpy.diff(edges))
        overfitted, lost = [], []
        for taken in itertools.combinations(range(blocks), blocks // 2):
            chosen = numpy.isin(block_of, taken)
            other = ~chosen
            # A period of the choosing half leaves when one of the other half is at most `purged` periods away.
            near = numpy.zeros(len(returns), bool)
            for shift in range(1, purged + 1):
                near[shift:] |= other[:-shift]
                near[:-shift] |= other[shift:]
            chosen &= ~near
            ratio = returns[chosen].mean(axis=0) / returns[chosen].std(axis=0)
            best = ratio.argmax()
            ratio = returns[other].mean(axis=0) / returns[other].std(axis=0)
            rank = scipy.stats.rankdata(ratio)[best] / (returns.shape[1] + 1)
            overfitted.append(numpy.log(rank / (1 - rank)) <= 0)
            lost.append(returns[other][:, best].mean() < 0)
        rows.append([blocks, purged, repr(float(numpy.mean(overfitted))), repr(float(numpy.mean(lost)))])
    write("overfitting.csv", ["blocks", "purged", "probability", "loss_probability"], rows)



def shrinkage():
    """Groups of returns per unit of stake, a case of a few groups each; the between variance by statsmodels."""
    generator = numpy.random.default_rng(20261122)
    cases = [
        [(0.54, 400), (0.58, 120), (0.50, 30), (0.70, 9)],
        [(0.54, 60), (0.54, 60), (0.54, 60)],
        [(0.20, 15), (0.60, 250), (0.90, 40), (0.55, 1), (0.56, 800)],
        [(0.50, 24)] * 24,
    ]
    rows = []
    for case, groups in enumerate(cases):
        returns = [numpy.where(generator.random(count) < chance, 0.85, -1.0) for chance, count in groups]
        for group, drawn in zip(returns, shrunk(returns)):
            sums = [float(group.sum()), float((group ** 2).sum())]
            rows.append([case, len(group), repr(sums[0]), repr(sums[1]), repr(float(drawn))])
    write("shrinkage.csv", ["case", "count", "sum", "sum_of_squares", "shrunk"], rows)


def shrunk(groups):
    """Each mean drawn to the whole by the between variance of DerSimonian and Laird."""
    counts, means = numpy.array([len(group) for group in groups]), numpy.array([group.mean() for group in groups])
    everything = numpy.concatenate(groups)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (len(everything) - len(groups))
    between = combine_effects(means, within / counts, method_re="dl").tau2
    between = max(0.0, between)
    return everything.mean() + (means - everything.mean()) * between / (between + within / counts)


def figures():
    """One figure of everything, for the table: tests/reference_table.rs has the same inputs."""
    rows = list(csv.reader(open(HERE / "variants.csv")))[1:]
    daily = numpy.array([float(row[2]) for row in rows]) / 100
    table = []

    def add(function, figure, value, source):
        table.append([function, figure, repr(float(value)), source])

    p_star = 1 / 1.85
    add("break_even", "break-even at payout 80", mpmath.mpf(1) / mpmath.mpf("1.8"), "mpmath")
    add("break_even", "break-even at payout 85", mpmath.mpf(1) / mpmath.mpf("1.85"), "mpmath")
    add("break_even", "break-even at payout 90", mpmath.mpf(1) / mpmath.mpf("1.9"), "mpmath")
    stakes, payouts = numpy.array([10.0, 30.0]), numpy.array([0.8, 0.9])
    add("mixed_break_even", "break-even of 10 at payout 80 and 30 at payout 90",
        scipy.optimize.brentq(lambda p: (stakes * (p * (1 + payouts) - 1)).sum(), 0, 1, xtol=1e-15), "SciPy brentq of the profit")
    add("MeanBreakEven", "break-even of 40 trades at payout 80 and 60 at payout 90",
        numpy.mean(1 / (1 + numpy.repeat(payouts, [40, 60]))), "NumPy mean")
    lower, upper = proportion_confint(580, 1000, alpha=0.05, method="wilson")
    add("wilson_interval", "Wilson lower end of 580 in 1000", lower, "statsmodels proportion_confint")
    add("wilson_interval", "Wilson upper end of 580 in 1000", upper, "statsmodels proportion_confint")
    lower, upper = proportion_confint(580, 1000, alpha=0.05, method="beta")
    add("clopper_pearson_interval", "Clopper-Pearson lower end of 580 in 1000", lower, "statsmodels proportion_confint")
    add("clopper_pearson_interval", "Clopper-Pearson upper end of 580 in 1000", upper, "statsmodels proportion_confint")
    add("binomial_p_value", "binomial p-value of 580 in 1000 at payout 85", scipy.stats.binomtest(580, 1000, p_star, "greater").pvalue,
        "SciPy binomtest")
    nulls = [1 / 1.7] * 40 + [1 / 1.8] * 100 + [1 / 1.92] * 60
    add("poisson_binomial_p_value", "Poisson-binomial p-value of 120 in 200", scipy.stats.poisson_binom.sf(119, nulls), "SciPy poisson_binom")
    critical = int(scipy.stats.binom.isf(0.05, 1000, 0.5)) + 1
    add("binomial_p_value", "worthless bot called significant against 50 %", scipy.stats.binom.sf(critical - 1, 1000, p_star),
        "SciPy binom")
    two, five = list(csv.reader(open(HERE / "planner.csv")))[1:3]
    add("TradePlan", "trades for +2 points by the normal formula", two[4], "SciPy norm (planner.csv)")
    add("TradePlan", "trades for +2 points by the exact binomial", two[5], "SciPy binom (planner.csv)")
    add("TradePlan", "trades for +5 points by the exact binomial", five[5], "SciPy binom (planner.csv)")
    add("Sprt", "SPRT log ratio after 12 won and 8 lost",
        12 * numpy.log(1.04) + 8 * numpy.log((1 - 1.04 * p_star) / (1 - p_star)), "NumPy")
    growth = scipy.optimize.minimize_scalar(lambda f: -(0.6 * numpy.log(1 + 0.85 * f) + 0.4 * numpy.log(1 - f)),
                                            bounds=(0, 0.9), method="bounded", options={"xatol": 1e-12})
    add("kelly_fraction", "Kelly fraction of 60 % at payout 85", growth.x, "SciPy minimize_scalar of the growth")
    add("benjamini_hochberg", "best of three by Benjamini-Hochberg", multipletests([0.01, 0.04, 0.03], method="fdr_bh")[1][0],
        "statsmodels multipletests")
    order = ([1] * 3 + [0] * 3) * 6 + ([1] * 2 + [0] * 2) * 3
    add("runs_test", "p-value of 18 runs of 24 won and 24 lost", runstest_1samp(order, cutoff=0.5, correction=True)[1],
        "statsmodels runstest_1samp")
    add("streak_probability", "streak of 10 losses in 1000 at 46 %", streak(10, 1000, 0.46), "mpmath matrix power")
    edge, mirror = accounts([True] * 12 + [False] * 8, 0.85, 0.04)
    add("EdgeTest", "account for an edge after 12 won and 8 lost", edge, "Python from the definition")
    add("EdgeTest", "account against an edge after 12 won and 8 lost", mirror, "Python from the definition")
    signs = numpy.sign(numpy.array([[float(x) for x in row] for row in rows]))
    add("Overlap", "variance inflation of three in step", inflation(signs[:, 0], 3), "Python over all pairs")
    won = [len(list(run)) for is_won, run in itertools.groupby(signs[:, 0] > 0) if is_won]
    lost = [len(list(run)) for is_won, run in itertools.groupby(signs[:, 0] > 0) if not is_won]
    add("longest_streaks", "longest row of wins in 97", max(won), "Python groupby")
    add("longest_streaks", "longest row of losses in 97", max(lost), "Python groupby")
    right = numpy.where(signs[:, 0] == signs[:, 1], 0.85, -1.0).mean()
    shifted = numpy.array([numpy.where(numpy.roll(signs[:, 0], -by) == signs[:, 1], 0.85, -1.0).mean() for by in range(1, 97)])
    add("direction_baseline", "return of 97 directions as they were", right, "NumPy")
    add("direction_baseline", "return of 97 directions always BUY", numpy.where(signs[:, 1] > 0, 0.85, -1.0).mean(), "NumPy")
    add("direction_baseline", "p-value of 97 directions", (shifted >= right - 1e-12).mean(), "NumPy roll by every shift")
    groups = [numpy.array([0.85] * won + [-1.0] * lost) for won, lost in [(40, 20), (5, 20), (4, 1)]]
    for name, drawn in zip(["sixty", "twenty-five", "five"], shrunk(groups)):
        add("shrink_to_overall_mean", f"mean of {name} among 90 drawn to the whole", drawn, "statsmodels combine_effects (DerSimonian-Laird)")
    add("exposure", "share of time with a trade open", open_share([(10, 50), (40, 70), (90, 120)], 100), "NumPy moment by moment")
    add("ruin", "ruin of the fair gambler with 10 within 2000", gambler(10, 2000), "NumPy absorbing chain")
    add("ruin", "ruin of two doubling levels from 30 within 200", doubling(30, 200), "NumPy absorbing chain")
    add("ruin", "ruin of six doubling levels from 2000 with 2 % draws within 300",
        ladder(200_000, [1000 * 2 ** level for level in range(6)], 0.5, 0.02, 300), "NumPy absorbing chain")
    skilled = gambler_curve(10, 2000, 0.55)
    add("ruin", "mean trades to ruin of a gambler at 55 %", (numpy.diff(skilled, prepend=0) * numpy.arange(1, 2001)).sum() / skilled[-1], "NumPy absorbing chain")
    add("ruin", "trades to a ruin of 10 % of a gambler at 55 %", numpy.argmax(skilled >= 0.1) + 1, "NumPy absorbing chain")
    add("required_balance", "balance for a ruin of 1 % of a gambler at 60 %",
        next(z for z in range(1, 99) if gambler_curve(z, 2000, 0.6)[-1] <= 0.01), "NumPy absorbing chain")
    add("simulate_ruin", "share of fair gamblers with 10 ruined within 200", gambler(10, 200), "NumPy absorbing chain")
    add("recovery_cost", "six levels that win back losses and profit at payout 85", ladder_cost(6, True), "Python level by level")
    add("recovery_cost", "six levels that win back losses at payout 85", ladder_cost(6, False), "Python level by level")
    wealth = numpy.concatenate([[1], numpy.cumprod(1 + daily)])
    falls = 1 - wealth / numpy.maximum.accumulate(wealth)
    add("max_drawdown", "max. drawdown", falls.max(), "NumPy maximum.accumulate")
    add("expectancy", "expectancy", daily.mean(), "NumPy mean")
    add("expectancy", "standard error of the expectancy", scipy.stats.sem(daily), "SciPy sem")
    add("profit_factor", "profit factor", daily[daily > 0].sum() / -daily[daily < 0].sum(), "NumPy")
    add("sharpe", "Sharpe", daily.mean() / daily.std(ddof=1) * 252 ** 0.5, "NumPy")
    add("sortino", "Sortino", daily.mean() / numpy.sqrt(numpy.mean(numpy.minimum(daily, 0) ** 2)) * 252 ** 0.5, "NumPy")
    add("calmar", "Calmar", (wealth[-1] ** (252 / len(daily)) - 1) / falls.max(), "NumPy")
    ratio, count = daily.mean() / daily.std(ddof=1), len(daily)
    skewness, kurtosis = scipy.stats.skew(daily), scipy.stats.kurtosis(daily, fisher=False)
    spread = (1 - skewness * ratio + (kurtosis - 1) / 4 * ratio ** 2) ** 0.5
    add("probabilistic_sharpe", "probabilistic Sharpe", scipy.stats.norm.cdf(ratio * (count - 1) ** 0.5 / spread), "SciPy norm and skew and kurtosis")
    best = ((1 - numpy.euler_gamma) * scipy.stats.norm.isf(1 / 20)
            + numpy.euler_gamma * scipy.stats.norm.isf(1 / (20 * numpy.e)))
    add("deflated_sharpe", "deflated Sharpe of 20 trials", scipy.stats.norm.cdf((ratio - 0.1 * best) * (count - 1) ** 0.5 / spread),
        "SciPy norm and skew and kurtosis")
    add("deflated_sharpe", "deflated Sharpe as published", 0.9004, "Bailey and Lopez de Prado (2014) to four digits")
    add("probability_of_overfitting", "probability of overfitting in 8 blocks purged by 2", overfitting_row("8", "2")[2], "NumPy (overfitting.csv)")
    add("best_of_many", "largest statistic of six variants", largest_statistic(rows), "SciPy ttest_1samp")
    add("best_of_many", "p-value of the best of six variants", best_p_value(rows, 200_000), "NumPy bootstrap of 200000 draws")
    write("figures.csv", ["function", "figure", "value", "source"], table)


def streak(length, trades, p):
    """The Markov chain over the streak's length so far, by matrix power, with 50 digits."""
    chain = mpmath.zeros(length + 1, length + 1)
    for state in range(length):
        chain[state, 0] += 1 - mpmath.mpf(p)
        chain[state, state + 1] += mpmath.mpf(p)
    chain[length, length] = 1
    return (chain ** trades)[0, length]


def gambler(balance, trades):
    return gambler_curve(balance, trades, 0.5)[-1]


def gambler_curve(balance, trades, chance):
    """Even money, one unit a trade: the chain over all balances, 0 absorbing; ruin within 1, 2, 3 ... trades."""
    state, curve = numpy.zeros(balance + trades + 2), []
    state[balance] = 1
    for _ in range(trades):
        after = numpy.zeros_like(state)
        after[0] = state[0]
        after[2:] += state[1:-1] * chance
        after[:-1] += state[1:] * (1 - chance)
        state = after
        curve.append(state[0])
    return numpy.array(curve)


def accounts(outcomes, b, delta):
    """The accounts of the verdict on trades one after another, none of them near its goal, from its definition."""
    edge = [[part / 64, edge * delta / b] for part, edge in [(22, 1.1), (8, 1.99), (17, 3.59), (17, 6.5)]]
    bound = max(b, 1)
    mirror = [[part / 16, short * delta / (1 + delta) * (bound - delta) / (b - delta)] for part, short in [(11, 1.1), (5, 3)]]
    for is_won in outcomes:
        r = b if is_won else -1.0
        edge = [[part * (1 + min(share, 0.35) * r), share] for part, share in edge]
        mirror = [[part * (1 + min(share, 0.35) * (delta - r) / (bound - delta)), share] for part, share in mirror]
    return sum(part for part, _ in edge), sum(part for part, _ in mirror)


def inflation(signs, size):
    """Groups of trades in step that return +1 or -1; each pair of a group was open at the same time."""
    returns = [sign for sign in signs for _ in range(size)]
    pairs = sum(returns[i] * returns[j] for i in range(len(returns)) for j in range(i) if i // size == j // size)
    return 1 + 2 * pairs / (sum(r * r for r in returns) + 10)


def open_share(trades, length):
    is_open = numpy.zeros(length, bool)
    for start, end in trades:
        is_open[start:min(end, length)] = True
    return is_open.mean()


def ladder_cost(levels, with_profit):
    """Each stake, when it wins at payout 85, pays for all stakes before it, and the first one's profit if asked for."""
    stakes = [1.0]
    while len(stakes) < levels:
        stakes.append((sum(stakes) + (0.85 if with_profit else 0.0)) / 0.85)
    return sum(stakes)


def best_p_value(rows, draws):
    """Periods drawn one by one, all variants together, each mean moved to 0."""
    generator = numpy.random.default_rng(20261123)
    returns = numpy.array([[float(x) for x in row] for row in rows])
    best, hits = largest_statistic(rows), 0
    for _ in range(draws // 1000):
        taken = returns[generator.integers(0, len(returns), (1000, len(returns)))]
        drawn = (taken.mean(axis=1) - returns.mean(axis=0)) / (taken.std(axis=1, ddof=1) / len(returns) ** 0.5)
        hits += (drawn.max(axis=1) >= best).sum()
    return hits / draws


def doubling(balance, trades):
    """Stakes 10 and 20, payout 80, wins at 1 / 1.8: (level, balance) by a dictionary."""
    alive, ruined, p = {(0, balance): 1.0}, 0.0, 1 / 1.8
    for _ in range(trades):
        after = {}
        for (level, money), weight in alive.items():
            stake = (10, 20)[level]
            for key, chance in [((0, money + stake * 8 // 10), p), ((1 - level, money - stake), 1 - p)]:
                if key[1] < (10, 20)[key[0]]:
                    ruined += weight * chance
                else:
                    after[key] = after.get(key, 0.0) + weight * chance
        alive = after
    return ruined


def ladder(balance, stakes, chance, draws, trades):
    """Stakes at payout 85 in cents, a level up after each loss, from the top back to the first: (level, balance) on a grid."""
    unit, profits = 50, [stake * 85 // 100 for stake in stakes]
    points = (balance + trades * 6 * profits[0]) // unit + 2
    state, ruined = numpy.zeros((len(stakes), points)), 0.0
    state[0, balance // unit] = 1
    for _ in range(trades):
        after = draws * state
        for level, stake in enumerate(stakes):
            decided, up, down = (1 - draws) * state[level], profits[level] // unit, stake // unit
            after[0, up:] += chance * decided[:points - up]
            after[(level + 1) % len(stakes), :points - down] += (1 - chance) * decided[down:]
        for level, stake in enumerate(stakes):
            ruined += after[level, :stake // unit].sum()
            after[level, :stake // unit] = 0
        state = after
    return ruined


def overfitting_row(blocks, purged):
    rows = csv.reader(open(HERE / "overfitting.csv"))
    return next(row for row in rows if row[:2] == [blocks, purged])


def largest_statistic(rows):
    returns = numpy.array([[float(x) for x in row] for row in rows])
    return scipy.stats.ttest_1samp(returns, 0).statistic.max()


wilson()
binomial()
poisson_binomial()
clopper_pearson()
planner()
benjamini_hochberg()
streaks()
overfitting()
shrinkage()
figures()
