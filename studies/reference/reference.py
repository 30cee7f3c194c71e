"""Writes reference.json: results of scipy, statsmodels and brute force, with which the tests compare the product.

    python -m venv /tmp/reference && /tmp/reference/bin/pip install scipy==1.17.1 statsmodels==0.15.0
    /tmp/reference/bin/python studies/reference/reference.py
    node_modules/.bin/biome format --write server/experiments/statistics/reference/reference.json

No formula here is a copy of one of the product: where a library has the number, it comes from the library; else from the
definition, by enumeration or numerical integration. Everything is seeded: the same versions write the same file.
"""

import itertools
import json
import pathlib

import numpy as np
from scipy import integrate, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW
from statsmodels.tsa.stattools import acf

random = np.random.default_rng(20261123)


def draw(count, spread=1.0):
    """Returns normal numbers with few digits, so that the file stays small."""
    return np.round(random.normal(0.3, spread, count), 4)


def enumerate_signs(count):
    """Returns every assignment of signs, one a row."""
    bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    return 2 * bits - 1


def test_by_enumeration(values):
    """Returns the two-sided p-value of the sum of values whose signs are coin flips."""
    values = np.abs(values)
    return lambda observed: float(
        min(1, 2 * np.mean(enumerate_signs(len(values)) @ values <= -abs(observed) + 1e-9))
    )


def reference_wilcoxon():
    cases = []
    for count in (6, 9, 10, 13):  # ties and zeros, by enumeration
        for _ in range(3):
            scores = np.round(random.normal(0.5, 2, count))
            nonzero = scores[scores != 0]
            if len(nonzero) < 6:
                continue
            ranks = stats.rankdata(np.abs(nonzero))
            observed = float(np.sum(np.sign(nonzero) * ranks))
            cases.append(case_of(scores, ranks, nonzero, test_by_enumeration(ranks)(observed)))
    for count in (10, 20, 50, 100):  # exact, without ties
        scores = draw(count)
        cases.append(case_of_scipy(scores, "exact"))
    for count in (130, 200, 300):  # normal approximation with ties and continuity
        scores = np.round(random.normal(0.1, 1, count), 1)
        cases.append(case_of_scipy(scores, "asymptotic"))
    return cases


def case_of(scores, ranks, nonzero, p_value):
    return {
        "scores": scores.tolist(),
        "n": len(nonzero),
        "w_plus": float(np.sum(ranks[nonzero > 0])),
        "w_minus": float(np.sum(ranks[nonzero < 0])),
        "p_value": p_value,
    }


def case_of_scipy(scores, method):
    nonzero = scores[scores != 0]
    found = stats.wilcoxon(nonzero, method=method, correction=True)
    return case_of(scores, stats.rankdata(np.abs(nonzero)), nonzero, float(found.pvalue))


def smaller_tails(mean, ranks):
    """Returns for each flip the smaller of the ranks' tail and twice the mean's: the shares of flips as far from 0."""
    distances = np.abs(np.column_stack([mean, ranks]))
    tails = []
    for column in distances.T:
        ascending = np.sort(column)
        tolerance = 1e-9 * max(1.0, ascending[-1])
        tails.append(1 - np.searchsorted(ascending, column - tolerance) / len(column))
    return np.minimum(2 * tails[0], tails[1])


DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)


def enumerate_sign_flips(effects, checks=True):
    """Returns the p-value of the smaller of the signed ranks' tail and twice that of the t statistic, over all flips."""
    nonzero = np.flatnonzero(effects)
    signs = enumerate_signs(len(nonzero))
    flipped = np.zeros((len(signs), len(effects)))
    flipped[:, nonzero] = signs * np.abs(effects[nonzero])
    deviations = np.maximum(flipped.std(axis=1, ddof=1), 1e-12)
    student = flipped.mean(axis=1) / deviations
    student = student / np.sqrt(1 + student**2)  # the same order, and finite for equal effects
    ranks = stats.rankdata(np.abs(effects))  # Pratt: zeros have ranks, and no sign
    ranked = np.sign(flipped) @ ranks
    tails = smaller_tails(student, ranked)
    observed = np.flatnonzero((np.sign(flipped) == np.sign(effects)).all(axis=1))[0]
    if checks:
        check_single_tails(effects, student, ranked, observed)
    return float(np.mean(tails <= tails[observed] + 1e-12))


def check_single_tails(effects, student, ranked, observed):
    """Compares each statistic alone with scipy: the permutation test of the mean, and Wilcoxon's test with Pratt's zeros."""
    flips = {"permutation_type": "samples", "n_resamples": np.inf}
    by_mean = stats.permutation_test((effects, np.zeros_like(effects)), mean_difference, **flips).pvalue
    by_ranks = stats.wilcoxon(effects, zero_method="pratt", method=stats.PermutationMethod(n_resamples=2**13)).pvalue
    for distances, expected in ((np.abs(student), by_mean), (np.abs(ranked), by_ranks)):
        tolerance = 1e-9 * max(1.0, distances.max())
        assert abs(np.mean(distances >= distances[observed] - tolerance) - expected) < 1e-9


def mean_difference(first, second, axis=-1):
    return np.mean(first, axis=axis) - np.mean(second, axis=axis)


def near_end(effects):
    """Returns the shift next to 0 that the enumerated test just does not reject at 5 %."""
    inside, outside = float(np.mean(effects)), 0.0
    while enumerate_sign_flips(effects - outside, checks=False) > 0.05:
        inside, outside = outside, -np.mean(effects) / 4 if outside == 0 else 2 * outside
    for _ in range(40):
        middle = (inside + outside) / 2
        if enumerate_sign_flips(effects - middle, checks=False) <= 0.05:
            outside = middle
        else:
            inside = middle
    return inside


def reference_sign_flips():
    samples = [
        np.array([0.0, 0, 0, 0, 0.2, 0.3, 0.3, 0.9, -0.1, 0.4, 0.5, 0]),
        np.array([1.0] * 9 + [-1.0]),
        np.array([-0.02] * 11 + [0.18]),
        np.array([-1.0, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    ]
    for count in (6, 8, 10, 12):
        samples.append(draw(count, 0.5))
        samples.append(np.round(random.normal(0.4, 1, count)))
        samples.append(np.round(random.standard_t(2, count) * 0.3 + 0.2, 3))
    exact = [
        {"effects": one.tolist(), "p_value": enumerate_sign_flips(one)}
        for one in samples
        if np.count_nonzero(one) >= 6
    ]
    drawn = [np.round(random.normal(0.4, 1, count), 3) for count in (16, 18)]
    ends = [draw(10, 0.5), np.round(random.normal(0.3, 1, 10), 3)]
    return {
        "darwin": enumerate_sign_flips_of_many(DARWIN),
        "coins": float(stats.binomtest(115, 200).pvalue),
        "exact": exact,
        "drawn": [{"effects": one.tolist(), "p_value": enumerate_sign_flips_of_many(one)} for one in drawn],
        "near_ends": [{"effects": one.tolist(), "end": near_end(one)} for one in ends],
    }


def enumerate_sign_flips_of_many(effects):
    """Returns the same p-value without a comparison with scipy, which takes minutes here."""
    signs = enumerate_signs(len(effects)).astype(np.int8)
    ranks = stats.rankdata(np.abs(effects))
    tails = smaller_tails(signs @ np.abs(effects), signs @ ranks)
    observed = np.flatnonzero((signs == np.sign(effects)).all(axis=1))[0]
    return float(np.mean(tails <= tails[observed] + 1e-12))


def reference_failures():
    """Pairs of units that only one side lost (McNemar), and failed repetitions by unit (enumeration)."""
    single = [
        {
            "candidate_only": b,
            "control_only": c,
            "p_value": float(min(1, mcnemar([[0, b], [c, 0]], exact=True).pvalue)) if b + c else 1.0,
        }
        for b, c in [(0, 0), (1, 0), (5, 0), (6, 0), (3, 9), (20, 4), (40, 41)]
    ]
    repeated = []
    for differences in ([3, 2, 2], [5, -1, 2, 0, 4], [-3, 1, 1, 1, -2, 4, 2], [1, 1, -5, 2, 2, 2, 3, -1]):
        nonzero = np.array([one for one in differences if one != 0])
        p_value = test_by_enumeration(nonzero)(float(np.sum(nonzero)))
        repeated.append({"differences": differences, "p_value": p_value})
    return {"single": single, "repeated": repeated}


def reference_holm():
    """Weighted Holm by the closed test: the largest weighted Bonferroni p-value over all subsets with the hypothesis."""
    cases = []
    for count in (1, 2, 5, 8):
        p_values = np.round(random.uniform(0, 0.2, count) ** 2, 5)
        weights = random.dirichlet(np.ones(count)).round(4)
        adjusted = []
        for index in range(count):
            others = [one for one in range(count) if one != index]
            subsets = [
                [index, *subset]
                for size in range(count)
                for subset in itertools.combinations(others, size)
            ]
            bonferroni = [
                min(p_values[one] * sum(weights[subset]) / weights[one] for one in subset)
                for subset in subsets
            ]
            adjusted.append(float(min(1, max(bonferroni))))
        cases.append({"p_values": p_values.tolist(), "weights": weights.tolist(), "adjusted": adjusted})
    p_values = np.round(random.uniform(0, 0.1, 12), 5)
    equal = multipletests(p_values, method="holm")[1]
    cases.append({"p_values": p_values.tolist(), "weights": [1 / 12] * 12, "adjusted": equal.tolist()})
    return cases


def reference_distributions():
    proportions = [
        {
            "successes": k,
            "trials": n,
            "confidence": confidence,
            "low": float(proportion_confint(k, n, 2 * (1 - confidence), "beta")[0]) if k else 0.0,
            "high": float(proportion_confint(k, n, 2 * (1 - confidence), "beta")[1]) if k < n else 1.0,
        }
        for k, n in [(0, 10), (1, 10), (10, 10), (3, 50), (37, 300)]
        for confidence in (0.95, 0.975)
    ]
    degrees = [1, 2.5, 4, 9, 19.3, 49, 299]
    return {
        "clopper_pearson": proportions,
        "t_quantiles": [[d, float(stats.t.ppf(0.975, d)), float(stats.t.ppf(0.98, d))] for d in degrees],
        "t_tails": [[d, t, float(stats.t.sf(t, d))] for d in degrees for t in (0, 0.5, 2, 6)],
        "chi_squared_quantiles": [
            [p, d, float(stats.chi2.ppf(p, d))] for p in (0.2, 0.8) for d in (1, 2.5, 5, 9, 19.3, 49, 299)
        ],
        "f_quantiles": [
            [p, n, d, float(stats.f.ppf(p, n, d))] for p in (0.2, 0.8) for n, d in [(1, 10), (9, 40), (4.5, 12)]
        ],
        "normal_quantiles": [[p, float(stats.norm.ppf(p))] for p in (1e-12, 1e-4, 0.02, 0.5, 0.975)],
        "binomial_tails": [
            [k, n, float(stats.binom.sf(k - 1, n, 0.5))] for k, n in [(1, 1), (8, 10), (60, 100), (300, 500)]
        ],
    }


def draw_series(count, correlation):
    noise = random.normal(0, 1, count)
    values = [noise[0]]
    for one in noise[1:]:
        values.append(correlation * values[-1] + np.sqrt(1 - correlation**2) * one)
    return np.round(np.array(values) + 0.2, 4)


def reference_dependence():
    series = []
    for count, correlation in [(20, 0.0), (30, 0.6), (80, 0.3), (160, 0.9)]:
        values = draw_series(count, correlation)
        raw = float(acf(values, nlags=1)[1])
        bias_corrected = raw + (1 + 4 * raw) / count
        series.append({"values": values.tolist(), "raw": raw, "bias_corrected": bias_corrected})
    clusters = []
    for count, groups in [(24, 6), (40, 8), (60, 12)]:
        labels = [f"c{int(one)}" for one in random.integers(0, groups, count)]
        effects = {label: random.normal(0, 1) for label in sorted(set(labels))}
        values = np.round([effects[label] + random.normal(0.4, 1) for label in labels], 4)
        members = [values[[one == label for one in labels]] for label in sorted(effects)]
        sizes = np.array([len(one) for one in members])
        ratio = float(stats.f_oneway(*members).statistic)
        typical = (count - np.sum(sizes**2) / count) / (len(sizes) - 1)
        ranks = np.sign(values) * stats.rankdata(np.abs(values))
        sums = [np.sum(ranks[[one == label for one in labels]]) for label in sorted(effects)]
        clusters.append(
            {
                "labels": labels,
                "values": values.tolist(),
                "intraclass_correlation": max(0.0, (ratio - 1) / (ratio - 1 + typical)),
                "effective": float(count**2 / np.sum(sizes**2)),
                "p_value": float(stats.ttest_1samp(sums, 0).pvalue),
            }
        )
    return {"series": series, "clusters": clusters}


def reference_martingale():
    """The mixture over a normal variable of precision 8 by numerical integration, after every unit."""
    cases = []
    for count, shift in [(12, 0.0), (30, 0.5), (60, -0.3)]:
        effects = np.round(random.standard_t(3, count) + shift, 4)
        total, squares, e_values = 0.0, 0.0, []
        for index, effect in enumerate(effects):
            scale = np.sqrt(np.mean(effects[:index] ** 2)) if index else 0
            unit = float(np.clip(effect / scale, -4, 4)) if scale else 0.0
            total, squares = total + unit, squares + unit**2
            mixed = lambda x, s=total, v=squares: np.exp(x * s - x**2 * v / 2) * stats.norm.pdf(x, 0, 8**-0.5)
            e_values.append(float(integrate.quad(mixed, -8, 8, epsabs=1e-13, epsrel=1e-12, limit=400)[0]))
        cases.append({"effects": effects.tolist(), "e_values": [e_values[9], e_values[-1]]})
    return cases


BOOTSTRAP_RESAMPLES = 100_000


def studentize(errors, weights, generator):
    """Returns the 2.5 % and 97.5 % points of the studentised bootstrap of a ratio of sums; a mean has weights of 1."""
    count = len(errors)
    spread = np.sqrt(np.sum(errors**2) / (count - 1) / count)
    picks = generator.integers(0, count, (BOOTSTRAP_RESAMPLES, count))
    error, weight = errors[picks], weights[picks]
    off = error.sum(1) / weight.sum(1)
    residuals = error - off[:, None] * weight
    resampled = np.sqrt((residuals**2).sum(1) / (count - 1) / count) * count / weight.sum(1)
    return spread, np.quantile(off / np.maximum(resampled, 0.2 * spread), [0.025, 0.975])


def hull(estimate, errors, weights, generator=random):
    spread, (low, high) = studentize(errors, weights, generator)
    point = float(stats.t.ppf(0.975, len(errors) - 1))
    return [float(estimate - max(high, point) * spread), float(estimate - min(low, -point) * spread)]


def bell_mccaffrey(control, candidate):
    """Returns the interval of a ratio of totals, given the sizes: traces of the matrix of the squared residuals."""
    shares = control / control.sum()
    ratio = candidate.sum() / control.sum()
    centre = np.eye(len(shares)) - np.outer(np.ones(len(shares)), shares)
    form = centre.T @ np.diag(shares**2) @ centre
    expected = np.trace(form)
    degrees = expected**2 / np.trace(form @ form)
    residuals = (candidate - ratio * control) / control.sum()
    spread = np.sqrt(np.sum(residuals**2) * np.sum(shares**2) / expected)
    half = stats.t.ppf(0.975, degrees) * spread
    return [float(ratio - half), float(ratio + half)]


def bound_sized(control, differences, generator):
    """Returns the upper 97.5 % bound of a mean difference that grows with a power of the size."""
    count = len(control)
    growth = float(np.clip(stats.linregress(np.log(control), np.log(np.abs(differences))).slope, 0, 1))
    powers = (control / control.max()) ** growth
    share = differences.sum() / powers.sum()
    weights = powers / powers.mean()
    found = hull(share, (differences - share * powers) / powers.mean(), weights, generator)[1]
    logarithms = np.log(powers)
    variance = np.var(logarithms, ddof=1)
    error = np.sqrt(variance / count + variance**2 / (2 * (count - 1)))
    mean_power = np.exp(logarithms.mean() + variance / 2 + stats.t.ppf(0.9875, count - 1) * error)
    return float(found * (powers.mean() if found <= 0 else max(powers.mean(), mean_power)))


def widen(interval, control, differences, generator):
    """Moves the ends of an interval away from 0, as far as inputs of other sizes may move the mean."""
    low, high = interval
    if high > 0:
        high = max(high, bound_sized(control, differences, generator))
    if low < 0:
        low = min(low, -bound_sized(control, -differences, generator))
    return [low, high]


def join(first, second):
    return [min(first[0], second[0]), max(first[1], second[1])]


def reference_comparisons():
    cases = []
    sizes = np.random.default_rng(20261130)
    for count, effect, heavy in [(10, 0.02, False), (20, -0.04, True), (50, 0.01, False)]:
        control = np.round(100 * np.exp(random.normal(0, 1, count)), 3)
        noise = random.standard_t(3, count) * 0.04 if heavy else random.normal(0, 0.06, count)
        candidate = np.round(control * np.exp(effect + noise), 3)
        logs = np.log(candidate / control)
        differences = candidate - control
        ratio = float(np.mean(candidate) / np.mean(control))
        weights = control / np.mean(control)
        cases.append(
            {
                "control": control.tolist(),
                "candidate": candidate.tolist(),
                "geometric_mean_ratio": float(stats.gmean(candidate) / stats.gmean(control)),
                "student_interval": [float(np.exp(one)) for one in DescrStatsW(logs).tconfint_mean()],
                "log_interval": hull(np.mean(logs), logs - np.mean(logs), np.ones(count)),
                "mean_difference": float(np.mean(differences)),
                "difference_interval": widen(
                    hull(np.mean(differences), differences - np.mean(differences), np.ones(count)),
                    control,
                    differences,
                    sizes,
                ),
                "ratio": ratio,
                "ratio_interval": join(
                    hull(ratio, candidate / np.mean(control) - ratio * weights, weights),
                    bell_mccaffrey(control, candidate),
                ),
                "p_value": float(stats.wilcoxon(logs, method="exact").pvalue),
                "w_plus": float(np.sum(stats.rankdata(np.abs(logs))[logs > 0])),
            }
        )
    return cases


def write():
    import scipy
    import statsmodels

    reference = {
        "versions": {"numpy": np.__version__, "scipy": scipy.__version__, "statsmodels": statsmodels.__version__},
        "wilcoxon": reference_wilcoxon(),
        "failures": reference_failures(),
        "holm": reference_holm(),
        "distributions": reference_distributions(),
        "dependence": reference_dependence(),
        "martingale": reference_martingale(),
        "comparisons": reference_comparisons(),
        "sign_flips": reference_sign_flips(),
    }
    path = pathlib.Path(__file__).parent / "reference.json"
    path.write_text(json.dumps(reference, indent=2) + "\n")


if __name__ == "__main__":
    write()
