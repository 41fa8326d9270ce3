#!/usr/bin/env bash
# Runs the tests of what must hold in any order, shuffled, with new seeds until the time is over. A failing one prints the
# seed that repeats it. Usage: sim.sh SECONDS (under third_party/libuv/with.sh)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
root=$PWD
tests='AnyOrder|RandomLives|Model|Search'
packages=(internal/coro internal/waitq internal/simreactor scheduler scope pool future channel cosync uvtest)

mkdir -p build/sim
for p in "${packages[@]}"; do
	go test -c -o "build/sim/${p//\//-}.test" "./$p"
done
rounds=0
end=$((SECONDS + seconds))
while ((SECONDS < end)); do
	for p in "${packages[@]}"; do
		out=$(cd "$p" && "$root/build/sim/${p//\//-}.test" -test.run="$tests" -test.timeout=10m 2>&1) ||
			{ echo "$out"; echo "sim: $p failed; the seed is above" >&2; exit 1; }
		((SECONDS < end)) || break
	done
	rounds=$((rounds + 1))
done
echo "sim: $rounds rounds over ${#packages[@]} packages in $seconds s, no seed broke anything"
