# Sourced by ./mvnw and ./millrace: finds the JDK and the Maven that this project is built and run with.
# Sets nothing until a function is called; every function explains on stderr what it looked for when it fails.

MILLRACE_MIN_JAVA=21

# Prints the feature release (21, 25, …) of the JDK in folder $1, or nothing if it is no JDK (no javac).
jdk_release() {
    [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
    sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9][0-9]*\).*/\2/p' "$1/release" | head -n 1
}

# Prints the folder of the JDK behind the `javac` on the PATH, if there is one.
jdk_on_path() {
    local javac
    javac=$(command -v javac) || return 0
    # macOS has a stub in /usr/bin that only knows its own folder
    if [ "$javac" = /usr/bin/javac ] && [ -x /usr/libexec/java_home ]; then
        /usr/libexec/java_home 2>/dev/null || true
        return 0
    fi
    while [ -L "$javac" ]; do
        local target
        target=$(readlink "$javac")
        case "$target" in /*) javac=$target ;; *) javac=$(dirname "$javac")/$target ;; esac
    done
    (cd "$(dirname "$javac")/.." && pwd)
}

# Prints the JDK to use: JAVA_HOME if it is new enough, else the newest among the PATH and the usual folders.
find_jdk() {
    local found release best='' best_release=0
    if [ -n "${JAVA_HOME:-}" ]; then
        release=$(jdk_release "$JAVA_HOME")
        if [ -n "$release" ] && [ "$release" -ge "$MILLRACE_MIN_JAVA" ]; then
            printf '%s\n' "$JAVA_HOME"
            return 0
        fi
    fi
    for found in "$(jdk_on_path)" \
        /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* \
        /Library/Java/JavaVirtualMachines/*/Contents/Home "$HOME"/Library/Java/JavaVirtualMachines/*/Contents/Home \
        /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home \
        "${SDKMAN_DIR:-$HOME/.sdkman}"/candidates/java/* "$HOME"/.jdks/* "$HOME"/.asdf/installs/java/*; do
        [ -n "$found" ] && [ -d "$found" ] || continue
        release=$(jdk_release "$found")
        [ -n "$release" ] || continue
        if [ "$release" -gt "$best_release" ]; then
            best=$found
            best_release=$release
        fi
    done
    if [ "$best_release" -ge "$MILLRACE_MIN_JAVA" ]; then
        printf '%s\n' "$best"
        return 0
    fi
    {
        echo "millrace: needs a JDK $MILLRACE_MIN_JAVA or newer, found $([ -n "$best" ] && echo "only $best (release $best_release)" || echo none)."
        echo "  Looked at JAVA_HOME (${JAVA_HOME:-not set}), at the PATH, and in the usual folders (/usr/lib/jvm, /opt,"
        echo "  /Library/Java, SDKMAN, ~/.jdks). Install one, or set JAVA_HOME to it, and run this again."
    } >&2
    return 1
}

# 0 if version $1 is at least version $2 (three numbers each).
version_at_least() {
    local IFS=.
    # shellcheck disable=SC2086
    set -- $1 $2
    [ "$1" -ne "$4" ] && { [ "$1" -gt "$4" ]; return; }
    [ "$2" -ne "$5" ] && { [ "$2" -gt "$5" ]; return; }
    [ "${3%%-*}" -ge "${6%%-*}" ]
}

# Prints the version of the Maven command $1, or nothing.
maven_version() {
    "$1" -v 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g' | sed -n 's/^Apache Maven \([0-9.]*\).*/\1/p' | head -n 1
}

# Prints the Maven command to use. $1 is the project's folder, $2 the version wanted. A newer Maven on the PATH is taken
# as it is; an older one is used once, to fetch the wanted one from the registry that it is set up with.
find_maven() {
    local root=$1 wanted=$2 have='' mvn
    local kept="$root/.mvn/dist/apache-maven-$wanted/bin/mvn"
    if [ -x "$kept" ]; then
        printf '%s\n' "$kept"
        return 0
    fi
    mvn=$(command -v mvn) && have=$(maven_version "$mvn")
    if [ -n "$have" ] && version_at_least "$have" "$wanted"; then
        printf '%s\n' "$mvn"
        return 0
    fi
    if [ -z "$have" ]; then
        {
            echo "millrace: needs Maven, and there is no working mvn on the PATH."
            echo "  Any Maven from 3.6 on will do (Debian: apt-get install maven; macOS: brew install maven; SDKMAN: sdk install maven)."
            echo "  One older than $wanted is only used to fetch that version into .mvn/dist."
        } >&2
        return 1
    fi
    echo "millrace: Maven $have is older than $wanted, fetching that version once into .mvn/dist ..." >&2
    local log away
    log=$(mktemp)
    # run outside the project, so that neither its jvm.config nor its plugins take part; in a folder of its own, since
    # the plugin notes there what it has unpacked and would skip it for the next clone
    away=$(mktemp -d)
    if ! (cd "$away" && MAVEN_PROJECTBASEDIR="$away" "$mvn" -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack \
        -Dartifact="org.apache.maven:apache-maven:$wanted:zip:bin" -DoutputDirectory="$root/.mvn/dist") >"$log" 2>&1; then
        {
            echo "millrace: could not fetch Maven $wanted. The installed Maven said:"
            sed 's/^/  /' "$log" | tail -n 15
            echo "  Check the network and Maven's settings.xml, or install Maven $wanted or newer."
        } >&2
        rm -rf "$log" "$away"
        return 1
    fi
    rm -rf "$log" "$away"
    chmod +x "$root/.mvn/dist/apache-maven-$wanted/bin/mvn"
    printf '%s\n' "$kept"
}
