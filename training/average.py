"""Average tuned weights with the published ones: what was learned stays, and less of the rest is forgotten.

python training/average.py .training/encoder/epoch-1.safetensors --share 0.7 --output .training/averaged.safetensors
"""

from __future__ import annotations

import argparse
from pathlib import Path

from encoder import published_encoder, tell_tools_apart
from safetensors.torch import load_file, save_file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tuned", type=Path, help="weights of train.py")
    parser.add_argument("--share", type=float, default=0.7, help="how much the tuned weights count, 0..1")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    if not 0.0 <= arguments.share <= 1.0:
        parser.error("--share is 0..1")
    begun = published_encoder()
    tell_tools_apart(begun)
    published, tuned = begun.state_dict(), load_file(arguments.tuned)
    share = arguments.share
    averaged = {name: share * value + (1 - share) * published[name] for name, value in tuned.items()}
    save_file({name: value.contiguous() for name, value in averaged.items()}, arguments.output)


if __name__ == "__main__":
    main()
