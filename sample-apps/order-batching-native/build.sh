#!/bin/sh
# Rebuilds the four executables under bin/. Needed only after a change of the source: running and pushing the app
# needs no compiler. The compiler is Zig's C driver, which cross-compiles for all four from any of them:
#   python3 -m venv zig && zig/bin/pip install ziglang==0.17.0
#   ZIG="zig/bin/python -m ziglang" ./build.sh
# The same compiler version gives the same bytes, whatever the machine and the folder.
set -eu
ZIG=${ZIG:-zig}
# Made absolute before the change of folder, so that a relative path keeps its meaning.
case $ZIG in
  /*) ;;
  */*) ZIG=$PWD/$ZIG ;;
esac
cd "$(dirname "$0")"
for pair in linux-x64=x86_64-linux-musl linux-arm64=aarch64-linux-musl \
            darwin-x64=x86_64-macos.11.0 darwin-arm64=aarch64-macos.11.0; do
  platform=${pair%%=*}
  target=${pair#*=}
  # macOS has no static system library; Linux executables hold everything they need.
  case $platform in
    linux-*) link=-static ;;
    *) link= ;;
  esac
  mkdir -p "bin/$platform"
  # $ZIG and $link are split on purpose: a command with arguments, and perhaps nothing.
  $ZIG cc -target "$target" -mcpu=baseline -std=c11 -O2 -s $link -Wall -Wextra -Werror \
    -ffile-prefix-map="$PWD=." src/json.c src/problem.c src/tour.c src/search.c src/main.c -lm -o "bin/$platform/main"
done
(cd bin && for file in */main; do wc -c "$file"; done)
