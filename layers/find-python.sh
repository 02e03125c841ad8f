#!/bin/sh
# Prints the path of a Python 3.13, the version that Lambda runs; fails where there is none. pyenv puts a `python3.13`
# on PATH that works only where that version is chosen, so its own folder is looked at too.
for python in python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python3.13 python3; do
  found=$("$python" -c 'import sys; print(sys.executable if sys.version_info[:2] == (3, 13) else "")' 2>/dev/null)
  if [ -n "$found" ]; then echo "$found"; exit 0; fi
done
exit 1
