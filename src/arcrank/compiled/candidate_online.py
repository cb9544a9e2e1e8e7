"""Passes of the online rankers over candidates: `online` and passive-aggressive steps with joint features.

w : (d,) weights; late : (d,) or (0,), see U of `online`; the other arrays are those of `online`
square : (n,) the spread of each instance's candidates, `mean ||z - mean z||^2`: half of the mean square of a difference
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.candidate_margin import candidate_workspace, piece_range, relax_candidates
from arcrank.compiled.candidate_rows import add_direction, gather_direction, score_candidates
from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import cost_of
from arcrank.compiled.margin_arcs import EXPLICIT, add_most_urgent
from arcrank.compiled.online import (
    AVERAGE_PRECISION,
    LARGEST,
    OWN_LOSS,
    PERCEPTRON,
    ROUNDS,
    SKIPPED,
    _perceptron_step,
    normalizer,
    precision_arcs,
    precision_layers,
    read_layers,
    record,
    wrong_arcs,
    wrong_layers,
)

_TURNS, _EXACT = 2000, 1e-9  # of a passive-aggressive step: at most so many turns, down to this share of the violation


@kernel
def perceptron_pass(rows, ptr, graph, depth, arcs, Z, square, rule, w, late, counters, sums, curve):
    """Run MMP (Crammer & Singer 2002, Fig. 2) or the perceptron: `w += sum_c tau_c z_c`; return the rows seen.

    graph : layers, where arcs is empty, else arcs : (arc_ptr, head, tail)
    """
    g_ptr, label, level, rest, n_layers = graph
    explicit = len(arcs[0]) > 0
    (levels, sizes, _, scores), _, vector, _ = candidate_workspace(ptr, n_layers + 1, len(w), 1)
    step, tree = np.empty(len(scores)), np.empty(n_layers + 2, np.int64)
    for place in range(len(rows)):
        i = rows[place]
        m, layers = ptr[i + 1] - ptr[i], max(2, depth[i])
        f, tau, own = scores[:m], step[:m], levels[:m]
        if explicit:
            n_arcs = arcs[0][i + 1] - arcs[0][i]
        else:
            n_arcs = read_layers(i, g_ptr, label, level, rest, own, sizes[:layers])
        before, wrong = counters[ROUNDS], 0
        if n_arcs == 0:
            counters[SKIPPED] += 1
            if rule != PERCEPTRON or m == 0:
                continue
        score_candidates(Z, ptr[i], w, f)
        if not np.isfinite(f.sum()):
            return place
        sums[LARGEST] = max(sums[LARGEST], square[i])
        if n_arcs > 0:
            if explicit:
                wrong = wrong_arcs(i, arcs[0], arcs[1], arcs[2], f, tau)
            else:
                wrong = wrong_layers(own, sizes[:layers], f, tau, tree[: layers + 1])
            record(wrong, n_arcs, counters, sums, curve)
        moved = wrong > 0
        if rule == PERCEPTRON:
            moved = _perceptron_step(own, f, tau)
        elif moved and rule == AVERAGE_PRECISION:
            if explicit:
                sums[OWN_LOSS] += precision_arcs(i, arcs[0], arcs[1], arcs[2], f, tau)
            else:
                sums[OWN_LOSS] += precision_layers(own, f, tau)
        elif moved:
            c = normalizer(rule, wrong, n_arcs)
            for r in range(m):
                tau[r] /= c
        if moved:
            n, _ = gather_direction(Z, ptr[i], tau, vector[0], vector[1], vector[2])
            add_direction(vector[1], vector[2], n, 1.0, w)
            if len(late):
                add_direction(vector[1], vector[2], n, float(before), late)
    return len(rows)


@kernel
def margin_pass(rule, setting, rows, ptr, graph, depth, pieces, arcs, Z, square, w, late, counters, sums, curve):
    """Make passive-aggressive steps on the pieces of each instance, those of small margin first; return the rows seen.

    Each step moves w to the minimum of `||w' - w||^2 / 2 + C L(smallest margin at w')`. The margin at which L is 0 is
    in the rule and in the scales of the pieces.
    """
    g_ptr, label, level, rest, n_layers = graph
    C_given, relative = setting
    explicit = len(arcs[0]) > 0
    (levels, start, order, scores), active, vector, _ = candidate_workspace(ptr, n_layers + 1, len(w), 1)
    step, tree, sizes = np.empty(len(scores)), np.empty(n_layers + 2, np.int64), np.empty(n_layers + 1, np.int64)
    seen = np.zeros(len(w), np.bool_)
    for place in range(len(rows)):
        i = rows[place]
        m, layers = ptr[i + 1] - ptr[i], max(2, depth[i])
        f, tau, own = scores[:m], step[:m], levels[:m]
        if explicit:
            n_arcs = arcs[0][i + 1] - arcs[0][i]
        else:
            n_arcs = read_layers(i, g_ptr, label, level, rest, own, sizes[:layers])
        if n_arcs == 0:
            counters[SKIPPED] += 1
            continue
        score_candidates(Z, ptr[i], w, f)
        if not np.isfinite(f.sum()):
            return place
        before = counters[ROUNDS]
        sums[LARGEST] = max(sums[LARGEST], square[i])
        if explicit:
            wrong = wrong_arcs(i, arcs[0], arcs[1], arcs[2], f, tau)
        else:
            wrong = wrong_layers(own, sizes[:layers], f, tau, tree[: layers + 1])
        record(wrong, n_arcs, counters, sums, curve)
        C = C_given
        if relative:
            C = C / square[i] if square[i] > 0.0 else 0.0
        if C == 0.0:
            continue
        own_start, own_order = start[: depth[i] + 1], order[:m]
        here = (g_ptr, label, level, rest, depth[i])
        first, last = piece_range(i, rule, here, pieces, own, own_start, own_order)
        urgency = np.empty(last - first)
        for p in range(first, last):
            top, _ = add_most_urgent(p, rule, pieces, own_start, own_order, f, active, 0)
            urgency[p - first] = active[4][top] - active[3][top] * (f[active[1][top]] - f[active[2][top]])
            sums[OWN_LOSS] += cost_of(rule[2], urgency[p - first])
        if last == first or urgency.max() <= 0.0:
            continue
        if len(late):
            _count_late(Z, ptr[i], ptr[i + 1], w, late, -float(before), seen, True)
        for q in np.argsort(-urgency, kind="mergesort"):
            p = first + q
            own_C = C * pieces[6][p] if rule[0] == EXPLICIT else C
            relax_candidates(
                p, rule, pieces, own_start, own_order, own_C, _TURNS, _EXACT, True, Z, ptr[i], w, f, active, 0, vector
            )
            score_candidates(Z, ptr[i], w, f)
        if len(late):
            _count_late(Z, ptr[i], ptr[i + 1], w, late, float(before), seen, False)
    return len(rows)


@kernel
def _count_late(Z, first, last, w, late, factor, seen, mark):
    """Add `factor` times the weights of all features of an instance's candidates to the late sums, each once.

    Before and after a step, with opposite factors, that adds its change.
    """
    z_ptr, index, _ = Z
    for j in range(z_ptr[first], z_ptr[last]):
        if seen[index[j]] != mark:
            seen[index[j]] = mark
            late[index[j]] += factor * w[index[j]]
