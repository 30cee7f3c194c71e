"""Writes reference.json: results of scipy, statsmodels and brute force, with which the tests compare the product.

    python -m venv /tmp/reference && /tmp/reference/bin/pip install scipy==1.17.1 statsmodels==0.15.0
    /tmp/reference/bin/python server/experiments/statistics/reference/reference.py
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
from statsmodels.stats.oneway import anova_oneway
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


def studentize(errors, weights):
    """Returns the 2.5 % and 97.5 % points of the studentised bootstrap of a ratio of sums; a mean has weights of 1."""
    count = len(errors)
    spread = np.sqrt(np.sum(errors**2) / (count - 1) / count)
    picks = random.integers(0, count, (BOOTSTRAP_RESAMPLES, count))
    error, weight = errors[picks], weights[picks]
    off = error.sum(1) / weight.sum(1)
    residuals = error - off[:, None] * weight
    resampled = np.sqrt((residuals**2).sum(1) / (count - 1) / count) * count / weight.sum(1)
    return spread, np.quantile(off / np.maximum(resampled, 0.2 * spread), [0.025, 0.975])


def hull(estimate, errors, weights):
    spread, (low, high) = studentize(errors, weights)
    point = float(stats.t.ppf(0.975, len(errors) - 1))
    return [float(estimate - max(high, point) * spread), float(estimate - min(low, -point) * spread)]


def reference_comparisons():
    cases = []
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
                "difference_interval": hull(
                    np.mean(differences), differences - np.mean(differences), np.ones(count)
                ),
                "ratio": ratio,
                "ratio_interval": hull(ratio, candidate / np.mean(control) - ratio * weights, weights),
                "p_value": float(stats.wilcoxon(logs, method="exact").pvalue),
                "w_plus": float(np.sum(stats.rankdata(np.abs(logs))[logs > 0])),
            }
        )
    return cases


def welch_statistic(values, groups):
    """Returns the weighted sum of squares between groups: the numerator of Welch's analysis of variance."""
    samples = [values[groups == group] for group in np.unique(groups)]
    found = anova_oneway(samples, use_var="unequal", welch_correction=False)
    return float(found.statistic) * (len(samples) - 1)


def reference_interactions():
    cases = []
    for shift in (0.0, 1.0, 2.5):  # two groups of five and six, by enumeration of 462 assignments
        groups = np.array([0] * 5 + [1] * 6)
        scores = draw(11) + shift * groups
        cases.append(interaction_of(scores, groups, list(itertools.combinations(range(11), 6))))
    for shift in (0.4, 1.2):  # three groups, by 20,000 permutations
        groups = np.array([0] * 12 + [1] * 10 + [2] * 8)
        cases.append(interaction_of(draw(30) + shift * groups, groups, None))
    return cases


def interaction_of(scores, groups, subsets):
    ranks = stats.rankdata(scores)
    observed = welch_statistic(ranks, groups)
    if subsets is None:
        assignments = (random.permutation(groups) for _ in range(20_000))
    else:
        assignments = (np.isin(np.arange(len(groups)), subset).astype(int) for subset in subsets)
    found = [welch_statistic_fast(ranks, one) for one in assignments]
    return {
        "scores": np.round(scores, 6).tolist(),
        "groups": groups.tolist(),
        "statistic": observed,
        "p_value": float(np.mean(np.array(found) >= observed * (1 - 1e-9))),
    }


def welch_statistic_fast(values, groups):
    """Returns welch_statistic by its definition, with the least variance that the product documents."""
    least = 0.04 * np.var(values, ddof=1)
    samples = [values[groups == group] for group in np.unique(groups)]
    weights = np.array([len(one) / max(np.var(one, ddof=1), least) for one in samples])
    means = np.array([np.mean(one) for one in samples])
    return float(np.sum(weights * (means - np.average(means, weights=weights)) ** 2))


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
        "interactions": reference_interactions(),
    }
    path = pathlib.Path(__file__).parent / "reference.json"
    path.write_text(json.dumps(reference, indent=2) + "\n")


if __name__ == "__main__":
    write()
