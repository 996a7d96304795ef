#!/usr/bin/env bash
# Makes a base image for `./millrace images` without a registry and without a container engine: the C library and what RocksDB
# needs from Debian's packages, a JRE from the local JDK, no shell. Writes it as a tar that Jib and every engine read.
# Usage: scripts/base-image.sh FILE; needs a Debian or Ubuntu with apt-get and dpkg-deb, and a JDK with jlink.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"

PACKAGES=(base-files libc6 libgcc-s1 libstdc++6 zlib1g)
# what Quarkus, Kafka's clients, RocksDB and the tools of operators (jcmd, JFR) use
MODULES=java.se,jdk.crypto.ec,jdk.httpserver,jdk.jcmd,jdk.jfr,jdk.management,jdk.naming.dns,jdk.net,jdk.security.auth,jdk.unsupported,jdk.zipfs

for tool in apt-get dpkg-deb sha256sum; do
    command -v "$tool" >/dev/null || {
        echo "millrace: a base image is made from Debian packages, and there is no $tool here. Name one with --base." >&2
        exit 1
    }
done
mkdir -p "$(dirname "$1")"
out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
jdk=$(find_jdk)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apt-get drops its rights for a download and has to be able to write here
chmod 755 "$work"
mkdir -p "$work/root/tmp" "$work/root/etc" "$work/root/opt" "$work/packages" "$work/image"
chmod 777 "$work/packages"

(cd "$work/packages" && apt-get -qq download "${PACKAGES[@]}")
for package in "$work"/packages/*.deb; do
    dpkg-deb -x "$package" "$work/root"
done
rm -rf "$work"/root/usr/share/{doc,man,locale,lintian,gdb} "$work"/root/usr/lib/*/gconv
chmod 1777 "$work/root/tmp"
printf '%s\n' 'root:x:0:0:root:/root:/sbin/nologin' 'millrace:x:65532:65532:millrace:/tmp:/sbin/nologin' >"$work/root/etc/passwd"
printf '%s\n' 'root:x:0:' 'millrace:x:65532:' >"$work/root/etc/group"
"$jdk/bin/jlink" --add-modules "$MODULES" --strip-debug --no-man-pages --no-header-files --compress=zip-6 \
    --generate-cds-archive --output "$work/root/opt/java" >/dev/null

tar -C "$work/root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$work/image/layer.tar" .
digest=$(sha256sum <"$work/image/layer.tar" | cut -d ' ' -f 1)
cat >"$work/image/config.json" <<JSON
{"architecture": "$(dpkg --print-architecture)", "os": "linux", "created": "1970-01-01T00:00:00Z",
 "config": {"User": "65532:65532", "Env": ["PATH=/opt/java/bin:/usr/bin:/bin", "JAVA_HOME=/opt/java", "LANG=C.UTF-8"]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]}, "history": [{"created": "1970-01-01T00:00:00Z"}]}
JSON
printf '[{"Config": "config.json", "RepoTags": ["millrace/base:%s"], "Layers": ["layer.tar"]}]\n' \
    "$(jdk_release "$jdk")" >"$work/image/manifest.json"
tar -C "$work/image" -cf "$out" manifest.json config.json layer.tar
echo "millrace: made a base image of Java $(jdk_release "$jdk"), $(($(wc -c <"$out") / 1048576)) MB: $out" >&2
