"""Points and shapes in a plane: the hull of points, how far outside a point lies, arrows."""

import torch


def hull_of(points):
    """Return the corners of the smallest convex shape around points, in order (Andrew's algorithm).

    Shape: points ``(m, 2)`` -> a list of pairs.

    >>> hull_of(torch.tensor([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, 2.0]]))
    [(0.0, 0.0), (2.0, 0.0), (1.0, 2.0)]
    """
    points = sorted(set(map(tuple, points.tolist())))
    if len(points) < 3:
        return points
    sides = []
    for ordered in (points, points[::-1]):
        side = []
        for point in ordered:
            while len(side) > 1 and _turn(side[-2], side[-1], point) <= 0:
                side.pop()
            side.append(point)
        sides += side[:-1]
    return sides


def outside_by(hull, point):
    """Return how far a point lies outside a hull: 0.0 on it or in it.

    >>> outside_by([(0, 0), (2, 0), (0, 2)], (0.5, 0.5)), outside_by([(0, 0), (2, 0), (0, 2)], (3, 0))
    (0.0, 1.0)
    """
    edges = list(zip(hull, [*hull[1:], hull[0]], strict=True))
    if len(hull) > 2 and all(_turn(start, end, point) >= 0 for start, end in edges):
        return 0.0
    distance = min(_distance(start, end, point) for start, end in edges)
    return 0.0 if distance < 1e-4 else distance  # float32 leaves a point on an edge that far away


def _turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _distance(start, end, point):
    start, end, point = (torch.tensor(each, dtype=torch.float64) for each in (start, end, point))
    along = end - start
    length = along @ along
    part = ((point - start) @ along / length).clamp(0, 1) if length else 0.0
    return (point - start - part * along).norm().item()


def arrow(start, end, half=3.0, head=11.0):
    """Return the outline of an arrow between two pixels; a short one is all head."""
    along = (end[0] - start[0], end[1] - start[1])
    length = (along[0] ** 2 + along[1] ** 2) ** 0.5
    if length < 0.5:
        return [start] * 3
    unit = (along[0] / length, along[1] / length)
    head = min(head, length)
    outline = ((0, half), (length - head, half), (length - head, 2.4 * half), (length, 0))
    outline += ((length - head, -2.4 * half), (length - head, -half), (0, -half))
    return [(start[0] + a * unit[0] - b * unit[1], start[1] + a * unit[1] + b * unit[0]) for a, b in outline]
