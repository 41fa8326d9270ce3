#!/bin/sh
# build.sh plain|asan: makes libuv.a and libuv.pc of the fetched sources, unless
# they are there, and prints the folder that holds them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
version=$(cat "$here/VERSION")
manifest=$here/MANIFEST.sha256
src=$here/src-$version
build=$(cd "$here/../.." && pwd)/build
log=$build/libuv-build.log
cc=$(go env CC) # the compiler that cgo uses

die() { printf 'libuv: %s\n' "$*" >&2; exit 1; }

# As in libuv's CMakeLists.txt for Linux, and -fPIC so that it fits into every
# Go build mode. Assertions stay on, as in the distributions' builds.
flags='-std=gnu90 -fno-strict-aliasing -fvisibility=hidden -fPIC
	-D_GNU_SOURCE -D_POSIX_C_SOURCE=200112 -D_FILE_OFFSET_BITS=64 -D_LARGEFILE_SOURCE'
case $1 in
plain) flags="$flags -O2 -g" ;;
asan) flags="$flags -O1 -g -fsanitize=address -fno-omit-frame-pointer -D__ASAN__=1" ;;
*) die "no such flavour: $1" ;;
esac

# Everything that changes the archive changes the folder's name: neither Go's
# build cache nor the test below looks into it.
key=$({ cat "$manifest" "$0"; $cc --version; } | sha256sum | cut -c1-12)
out=$build/libuv-$key-$1
tmp=$out.tmp

compile() {
	cut -c67- "$manifest" | awk -v src="$src" '/\.c$/ { print src "/" $0 }' |
		(cd "$tmp/obj" && xargs -d '\n' -P "$(nproc)" -n 4 $cc $flags "-I$src/include" "-I$src/src" -c)
}

pc() {
	cat <<-END
		Name: libuv
		Description: libuv as pinned in third_party/libuv ($1)
		Version: $version
		Cflags: -I\${pcfiledir}/include
		Libs: -L\${pcfiledir} -l:libuv.a -lpthread -ldl -lrt
	END
}

if [ ! -d "$out" ]; then
	rm -rf "$tmp"
	mkdir -p "$tmp/obj"
	compile >"$log" 2>&1 ||
		die "does not compile with $cc: $(grep -m 1 error "$log")" \
			"(Debian: apt-get install gcc libc6-dev; details: build/libuv-build.log)"
	ar rcs "$tmp/libuv.a" "$tmp"/obj/*.o
	rm -r "$tmp/obj"
	cp -R "$src/include" "$tmp"
	pc "$1" >"$tmp/libuv.pc"
	mv "$tmp" "$out"
	rm "$log"
fi
printf '%s\n' "$out"
