#!/bin/sh
# with.sh LIBUV COMMAND...: runs COMMAND, for which cgo finds one libuv:
#   plain   the pinned one, static; fetched and built here when it is not there
#   asan    the same for go build -asan and go test -asan
#   system  the distribution's, as somebody who imports the module gets it
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

die() { printf '%s\n' "$*" >&2; exit 1; }

# need TOOL HOW-TO-GET-IT
need() { command -v "$1" >/dev/null || die "$1 is missing: $2"; }

check_tools() {
	want=$(sed -n 's/^go //p' "$root/go.mod")
	how="install Go $want or newer (https://go.dev/dl/) and put it on PATH"
	need go "$how"
	have=$(cd "$root" && go env GOVERSION 2>/dev/null) || have="an older version"
	printf 'go%s\n%s\n' "$want" "$have" | sort -CV || die "go is $have, which is too old: $how"
	cc=$(go env CC)
	need "${cc%% *}" "install a C compiler (Debian: apt-get install gcc libc6-dev), or set CC"
	need pkg-config "install it (Debian: apt-get install pkg-config)"
}

# One at a time, so that two makes in one tree do not meet.
pinned() {
	for tool in sha256sum tar gzip ar xargs flock; do
		need $tool "install it (Debian: apt-get install binutils coreutils findutils gzip tar util-linux)"
	done
	mkdir -p "$root/build"
	(flock 9 && "$here/fetch.sh" && "$here/build.sh" "$1") 9>"$root/build/libuv.lock"
}

[ $# -ge 2 ] || die "usage: with.sh plain|asan|system COMMAND..."
check_tools
case $1 in
system)
	pkg-config --exists libuv ||
		die "the distribution's libuv is missing: install it (Debian: apt-get install libuv1-dev), or use the pinned one"
	id=system-$(pkg-config --modversion libuv)
	;;
*)
	dir=$(pinned "$1")
	id=${dir##*/}
	export PKG_CONFIG_PATH="$dir${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
	;;
esac
shift

# What pkg-config says is no part of the key of Go's build cache, so a package
# compiled against one libuv would be taken for another. These flags are.
export CGO_CPPFLAGS="-DUVASYNC_LIBUV=$id ${CGO_CPPFLAGS-}"
export CGO_ENABLED=1 # whatever the environment says: without cgo there is nothing to build
exec "$@"
