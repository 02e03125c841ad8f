"""Cut from shared libraries what only a debugger reads: python drop_symbols.py FOLDER

The symbol tables of the wheels that are written in Rust weigh a quarter of tokenizers and a sixth of Qdrant Edge. The
loader never looks at them: they lie behind the last byte that it maps, with the table of sections, and so can be cut
off. `strip` would do the same, but only for its own processor unless another package is installed.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import BinaryIO

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # Elf64_Ehdr
_SEGMENT = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr
_ELF64_LITTLE_ENDIAN = b"\x7fELF\x02\x01"


def drop_symbols(library: BinaryIO) -> None:
    """Cut a library after its last segment. Any other file, and one that is cut already, stays as it is."""
    head = library.read(_HEADER.size)
    if len(head) < _HEADER.size or not head.startswith(_ELF64_LITTLE_ENDIAN):
        return
    header = list(_HEADER.unpack(head))
    segments_at, segment_size, segments = header[5], header[9], header[10]
    end = segments_at + segments * segment_size
    for number in range(segments):
        library.seek(segments_at + number * segment_size)
        segment = _SEGMENT.unpack(library.read(_SEGMENT.size))
        end = max(end, segment[2] + segment[5])  # where it begins in the file, and how much of the file it takes
    header[6] = header[12] = header[13] = 0  # no table of sections, no sections, none that names them
    library.seek(0)
    library.write(_HEADER.pack(*header))
    library.truncate(end)


if __name__ == "__main__":
    for path in Path(sys.argv[1]).rglob("*.so*"):
        with path.open("r+b") as opened:
            drop_symbols(opened)
