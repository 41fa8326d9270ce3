#!/bin/sh
# fetch.sh: puts the libuv sources into src-VERSION/. Whatever the route, only
# the files of MANIFEST.sha256 are kept, and only if every one matches it.
set -eu
export LC_ALL=C # the messages of sha256sum and apt-get are read here

here=$(cd "$(dirname "$0")" && pwd)
version=$(cat "$here/VERSION")
manifest=$here/MANIFEST.sha256
src=$here/src-$version
build=$(cd "$here/../.." && pwd)/build
work=$build/libuv-fetch
log=$build/libuv-fetch.log

debian_suite=trixie # its libuv1 is of the version in VERSION
debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
upstream=https://github.com/libuv/libuv.git

say() { printf 'libuv: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

failed=
fail() {
	failed="${failed:+$failed; }$*"
	return 1
}

# A file too many counts as well: a stray header would shadow the system's.
matches() {
	(cd "$1" && sha256sum --status -c "$manifest" && [ "$(find . ! -type d | wc -l)" -eq "$(wc -l <"$manifest")" ]) 2>/dev/null
}
first_mismatch() { (cd "$1" && sha256sum --quiet -c "$manifest") 2>/dev/null | sed -n '1s/: FAILED.*//p'; }

# keep FOLDER ROUTE
keep() {
	rm -rf "$work/keep"
	mkdir "$work/keep"
	# A file that is missing here fails the check below, which names it.
	(cd "$1" && cut -c67- "$manifest" | xargs cp --parents -t "$work/keep") 2>>"$log" || :
	matches "$work/keep" || fail "$2: $(first_mismatch "$work/keep") does not match MANIFEST.sha256" || return
	rm -rf "$src"
	mv "$work/keep" "$src"
}

# from_tarball FILE ROUTE
from_tarball() {
	[ -r "$1" ] || fail "$2: there is no such file" || return
	rm -rf "$work/tree"
	mkdir "$work/tree"
	tar -xf "$1" -C "$work/tree" --strip-components=1 --no-same-owner 2>>"$log" ||
		fail "$2: not a complete tar archive" || return
	keep "$work/tree" "$2"
}

# The machine's own mirrors. apt-get itself is asked, since it knows every way
# of writing them down.
mirrors() {
	apt-get update --print-uris 2>>"$log" </dev/null |
		sed -n "s|^'\(.*\)/dists/.*/InRelease'.*|\1|p" | grep -v -e '^cdrom:' -e security | awk '!seen[$0]++'
}

# Added to the machine's own settings (proxies, credentials). The hooks are
# cleared because they act on the system's lists and caches, not on ours.
apt_config() {
	cat <<-END
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "1";
		Acquire::http::Timeout "20";
		Acquire::https::Timeout "20";
		Dir::State "$work/apt/state";
		Dir::State::status "$work/apt/status";
		Dir::Cache "$work/apt/cache";
		Dir::Etc::sourcelist "$work/apt/libuv.sources";
		Dir::Etc::sourceparts "/dev/null";
	END
}

apt_sources() {
	printf '%s\n' 'Types: deb-src' "URIs: $1" "Suites: $debian_suite" 'Components: main'
	[ ! -r "$debian_keyring" ] || printf 'Signed-By: %s\n' "$debian_keyring"
}

apt() { (cd "$work/apt" && apt-get -c "$work/apt/config" "$@") >>"$log" 2>&1 </dev/null; }

from_apt() {
	command -v apt-get >/dev/null || fail "apt: there is no apt-get" || return
	mkdir -p "$work/apt/state/lists/partial" "$work/apt/cache/archives/partial"
	: >"$work/apt/status"
	apt_config >"$work/apt/config"
	for mirror in $(mirrors); do
		apt_sources "$mirror" >"$work/apt/libuv.sources"
		if apt update && apt source --download-only --tar-only libuv1; then
			from_tarball "$(echo "$work"/apt/libuv1_*.orig.tar.?z)" "apt" && return
		fi
	done
	[ -n "$failed" ] || fail "apt: no mirror of this machine gives libuv1 of Debian $debian_suite"
	return 1
}

from_git() {
	command -v git >/dev/null || fail "git: there is no git" || return
	rm -rf "$work/tree"
	GIT_TERMINAL_PROMPT=0 timeout 300 git clone --depth 1 --branch "v$version" "$upstream" "$work/tree" \
		>>"$log" 2>&1 </dev/null || fail "git: $upstream cannot be cloned" || return
	keep "$work/tree" "git"
}

if matches "$src"; then
	exit 0
fi
[ ! -d "$src" ] || say "${src#"$PWD"/}/$(first_mismatch "$src") does not match MANIFEST.sha256: fetching all again"
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir -p "$work"
: >"$log"
if [ -n "${LIBUV_TARBALL-}" ]; then
	from_tarball "$LIBUV_TARBALL" "LIBUV_TARBALL=$LIBUV_TARBALL" ||
		die "$failed. Name a tarball of libuv $version, or unset LIBUV_TARBALL to fetch it"
else
	from_apt || from_git ||
		die "cannot fetch version $version ($failed). Bring a tarball of it and run:" \
			"make vendor LIBUV_TARBALL=/path/to/it (details: build/libuv-fetch.log)"
fi
rm "$log"
