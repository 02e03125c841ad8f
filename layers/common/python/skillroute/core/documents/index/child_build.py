"""Building an optimised replica in a child process.

A graph (HNSW) makes searches of 10,000 items twice and of 100,000 items ten times faster, but Qdrant Edge builds it
without letting go of the GIL: 15 s at 40,000 items, in which no other thread would run. A child process has a GIL of
its own. It builds the replica in a folder and says how far it has read; the parent opens the folder and catches up from
there.

``python -m skillroute.core.documents.index.child_build`` reads its orders from standard input, so that the database's
password shows in no process list.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from pkgutil import resolve_name

from skillroute.core.documents.index.edge import EdgeIndex
from skillroute.core.documents.index.embedded_generation import Built
from skillroute.core.documents.index.projection import load_everything
from skillroute.core.documents.index.replica_files import ThrowawayEdgeIndex, new_replica_dir
from skillroute.core.documents.model import HEAD, FeedPage, Models
from skillroute.core.documents.replica_port import ChangeFeed
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.postgres.address import Address, fixed
from skillroute.core.postgres.pool import Pool

# 100,000 items take about a minute on two cores.
_TIMEOUT_S = 1800.0


def build_in_child(address: Address, parent_dir: Path | None, model: EmbeddingModel, *, make_feed: str) -> Built:
    """Build an optimised replica in a child process.

    Parameters
    ----------
    make_feed : str
        ``module:function`` of what makes a feed of a pool.

    Raises
    ------
    IndexUnavailable
        The child failed or took longer than half an hour; what it said last is in the message.
    """
    directory = new_replica_dir(parent_dir)
    orders = {
        "address": asdict(address),
        "directory": str(directory),
        "model": asdict(model),
        "make_feed": make_feed,
    }
    try:
        child = subprocess.run(  # noqa: S603 (our own interpreter and module)
            [sys.executable, "-m", __name__],
            input=json.dumps(orders),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        seen = json.loads(child.stdout)
    except subprocess.TimeoutExpired as error:
        shutil.rmtree(directory, ignore_errors=True)
        raise IndexUnavailable(f"building the index took longer than {_TIMEOUT_S:.0f} s") from error
    except OSError as error:
        raise IndexUnavailable(f"building the index could not be started: {error}") from error
    except subprocess.CalledProcessError as error:
        shutil.rmtree(directory, ignore_errors=True)
        last_line = (error.stderr.strip().splitlines() or ["no message"])[-1]
        raise IndexUnavailable(f"building the index failed: {last_line}") from error
    page = FeedPage(epoch=seen["epoch"], models=Models(model), position=seen["position"], changes=())
    return Built(ThrowawayEdgeIndex(directory, model.dimension), page)


def _main() -> None:
    os.nice(10)  # searches come first
    orders = json.loads(sys.stdin.read())
    pool = Pool(fixed(Address(**orders["address"])), size=1, statement_timeout_s=300.0)
    feed: ChangeFeed = resolve_name(orders["make_feed"])(pool)
    page = feed.poll(HEAD)
    model = EmbeddingModel(**orders["model"])
    index = EdgeIndex(Path(orders["directory"]), model.dimension)
    load_everything(feed, index, model)
    index.optimize()
    index.close()
    pool.close()
    sys.stdout.write(json.dumps({"epoch": page.epoch, "position": page.position}))


if __name__ == "__main__":
    _main()
