"""Grouping vectors."""

from __future__ import annotations

import numpy as np
import pytest
from skillroute.core.ranking.k_means import Matrix, k_means, normalised
from skillroute_local.proposing.clusters import NONE, Clustering, cluster, damped, most_of
from skillroute_local.proposing.ward import cut, ward_merges


def blobs(*sizes: int, noise: float = 0.08, dimension: int = 32, seed: int = 1) -> tuple[Matrix, list[int]]:
    """Return vectors around as many directions as there are sizes, and whose each is."""
    rng = np.random.default_rng(seed)
    centres = normalised(rng.normal(size=(len(sizes), dimension)))
    owners = [number for number, size in enumerate(sizes) for _ in range(size)]
    vectors = normalised(centres[owners] + rng.normal(size=(len(owners), dimension)) * noise)
    return vectors.astype(np.float32), owners


def ones(vectors: Matrix) -> Matrix:
    return np.ones(len(vectors), np.float32)


def partition(labels: object) -> set[frozenset[int]]:
    """Return a grouping without its numbers."""
    groups: dict[int, set[int]] = {}
    for index, label in enumerate(np.asarray(labels).tolist()):
        groups.setdefault(label, set()).add(index)
    return {frozenset(group) for group in groups.values()}


class TestCluster:
    def test_finds_the_groups_and_how_many_there_are(self) -> None:
        vectors, owners = blobs(15, 14, 13, 12, 11)
        found = cluster(vectors, ones(vectors))
        assert found.count == 5
        assert partition(found.labels) == partition(owners)
        assert found.silhouette > 0.5

    def test_numbers_the_groups_from_the_largest_down(self) -> None:
        vectors, _ = blobs(5, 12, 10, 7)
        sizes = np.bincount(cluster(vectors, ones(vectors)).labels)
        assert sizes.tolist() == [12, 10, 7, 5]

    @pytest.mark.parametrize(("sizes", "most"), [((5, 30, 12), 20), ((41, 30, 25, 20), 22), ((60, 50), 21)])
    def test_no_group_is_larger_than_it_may_be_and_none_is_mixed(self, sizes: tuple[int, ...], most: int) -> None:
        vectors, owners = blobs(*sizes)
        found = cluster(vectors, ones(vectors))
        assert most_of(len(vectors)) == most
        assert np.bincount(found.labels[found.labels != NONE]).max() <= most
        assert (found.labels != NONE).mean() > 0.9
        assert all(len({owners[place] for place in group}) == 1 for group in partition(found.labels) if len(group) > 5)

    def test_a_number_of_groups_that_is_asked_for_is_not_changed(self) -> None:
        vectors, _ = blobs(41, 30)
        assert np.bincount(cluster(vectors, ones(vectors), count=2).labels).tolist() == [41, 30]

    def test_the_same_vectors_give_the_same_groups_in_any_process_and_order(self) -> None:
        vectors, _ = blobs(*[25] * 8, noise=0.25)
        first, again = cluster(vectors, ones(vectors)), cluster(vectors.copy(), ones(vectors))
        assert (first.labels == again.labels).all()
        backwards = cluster(vectors[::-1], ones(vectors))
        assert partition(first.labels) == partition(backwards.labels[::-1])

    def test_copes_with_more_vectors_than_ward_merges_one_by_one(self) -> None:
        vectors, owners = blobs(*[90] * 20, dimension=64)  # 1,800
        found = cluster(vectors, ones(vectors), count=20)
        assert found.count == 20
        assert partition(found.labels) == partition(owners)

    def test_what_is_far_from_every_group_is_in_none(self) -> None:
        vectors, _ = blobs(20, 20, 20, 1, 1)
        found = cluster(vectors, ones(vectors))
        assert found.count == 3
        assert found.labels[-2:].tolist() == [NONE, NONE]
        assert NONE not in found.labels[:-2]

    def test_a_group_that_is_too_small_is_none(self) -> None:
        vectors, owners = blobs(*[20] * 8, 4, noise=0.04, dimension=128)
        assert cluster(vectors, ones(vectors), min_size=4, count=9).count == 9
        small = cluster(vectors, ones(vectors), min_size=5, count=9)
        assert small.count == 8
        assert (small.labels[np.array(owners) == 8] == NONE).all()

    @pytest.mark.parametrize("count", [1, 2, 3, 50])
    def test_makes_no_more_groups_than_asked_for(self, count: int) -> None:
        vectors, _ = blobs(20, 20, 20)
        assert 1 <= cluster(vectors, ones(vectors), count=count).count <= count

    @pytest.mark.parametrize("n", [0, 1, 2])
    def test_fewer_vectors_than_a_group_has_make_none(self, n: int) -> None:
        vectors, _ = blobs(3)
        assert cluster(vectors[:n], ones(vectors[:n])).labels.tolist() == [NONE] * n

    @pytest.mark.parametrize("n", [3, 4, 12, 40, 1_600])
    def test_vectors_that_are_all_the_same_are_in_as_few_groups_as_may_be(self, n: int) -> None:
        vectors = np.tile(normalised(np.ones((1, 8))), (n, 1)).astype(np.float32)
        found = cluster(vectors, ones(vectors))
        sizes = np.bincount(found.labels)
        assert sizes.sum() == n
        assert sizes.max() <= most_of(n) or n == 3
        assert found.count <= 2 * -(-n // most_of(n)) - 1

    def test_tells_how_far_it_is(self) -> None:
        vectors, _ = blobs(20, 20)
        steps: list[tuple[int, int]] = []
        cluster(vectors, ones(vectors), step=lambda done, total: steps.append((done, total)))
        assert [done for done, _ in steps] == list(range(len(steps)))
        assert steps[-1][0] == steps[-1][1]


class TestDamping:
    def test_tools_of_a_large_server_weigh_less(self) -> None:
        weights = damped(["big"] * 16 + ["small"])
        assert weights.tolist() == [0.5] * 16 + [1.0]

    def test_three_hundred_near_identical_tools_do_not_take_the_skills_of_others(self) -> None:
        # GIVEN three hundred tools of one server in six kinds that hardly differ, and six servers with a subject each
        rng = np.random.default_rng(3)
        subjects = normalised(rng.normal(size=(7, 32)))
        kinds = normalised(subjects[0] + rng.normal(size=(6, 32)) * 0.07)
        big = kinds[np.repeat(np.arange(6), 50)] + rng.normal(size=(300, 32)) * 0.02
        others = subjects[1 + np.repeat(np.arange(6), 6)] + rng.normal(size=(36, 32)) * 0.05
        vectors = normalised(np.vstack([big, others])).astype(np.float32)
        sources = ["big"] * 300 + [f"server {number}" for number in np.repeat(np.arange(6), 6)]

        found = cluster(vectors, damped(sources), count=9)

        # THEN each subject of the others is a skill, whole and of its own
        assert _groups_of(found, slice(300, None)) == 6
        assert not set(found.labels[:300].tolist()) & set(found.labels[300:].tolist())


def _groups_of(found: Clustering, where: slice) -> int:
    return len(set(found.labels[where].tolist()) - {NONE})


class TestParts:
    def test_k_means_finds_clear_groups(self) -> None:
        vectors, owners = blobs(20, 20, 20, noise=0.03)
        assert partition(k_means(vectors, 3, 7)) == partition(owners)

    def test_k_means_makes_do_with_fewer_vectors_than_clusters(self) -> None:
        vectors = normalised(np.eye(3))
        assert len(partition(k_means(vectors, 3, 7))) == 3

    def test_ward_merges_what_is_nearest_first(self) -> None:
        points = np.array([[0.0], [10.0], [1.0], [11.5]])
        merges = ward_merges(points, np.ones(4))
        assert merges == [(0, 2), (1, 3), (0, 1)]
        assert cut(merges, 2).tolist() == [0, 1, 0, 1]

    def test_ward_agrees_with_its_definition(self) -> None:
        # WHEN each merge is looked for among all pairs
        rng = np.random.default_rng(5)
        points, weights = rng.normal(size=(20, 6)), rng.uniform(0.2, 3.0, size=20)
        clusters = {i: [i] for i in range(20)}
        expected = []
        for _ in range(19):
            _, a, b = min(
                (_cost(points, weights, clusters[a], clusters[b]), a, b) for a in clusters for b in clusters if a < b
            )
            expected.append((a, b))
            clusters[a] += clusters.pop(b)
        assert ward_merges(points, weights) == expected


def _cost(points: Matrix, weights: Matrix, first: list[int], second: list[int]) -> float:
    a, b = weights[first].sum(), weights[second].sum()
    apart = np.average(points[first], axis=0, weights=weights[first]) - np.average(
        points[second], axis=0, weights=weights[second]
    )
    return float(a * b / (a + b) * (apart @ apart))
