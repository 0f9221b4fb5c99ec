#!/bin/sh
# Starts the server of the stand-in image. NEO4J_AUTH is neo4j/<password> or none; every other NEO4J_ variable is a
# setting as the official image spells it: "__" for an underscore, "_" for a dot.
set -eu

if [ "$(id -u)" = 0 ]; then
    chown -R neo4j:neo4j /data /logs
    exec su -p -s /bin/sh -- neo4j "$0" "$@"
fi
[ "${1:-neo4j}" = neo4j ] || exec "$@"

conf=$NEO4J_HOME/conf/neo4j.conf
{
    echo server.default_listen_address=0.0.0.0
    echo internal.dbms.bolt.netty_server_shutdown_quiet_period_duration=0s
    echo db.tx_log.preallocate=false
    if [ "${NEO4J_AUTH:-}" = none ]; then
        echo dbms.security.auth_enabled=false
    fi
} > "$conf"
for name in $(env | sed -n 's/^\(NEO4J_[a-z][A-Za-z0-9_]*\)=.*/\1/p'); do
    setting=$(echo "${name#NEO4J_}" | sed 's/__/%/g; s/_/./g; s/%/_/g')
    eval "value=\$$name" # the name is of letters, digits and underscores only
    printf '%s=%s\n' "$setting" "$value" >> "$conf"
done

# The password counts only before the first start.
case ${NEO4J_AUTH:-} in
    none | '') ;;
    neo4j/?*)
        [ -e /data/dbms/auth.ini ] || [ -e /data/databases/system ] ||
            java -cp "$NEO4J_HOME/lib/*" org.neo4j.server.startup.Neo4jAdminCommand \
                dbms set-initial-password "${NEO4J_AUTH#neo4j/}"
        ;;
    *)
        echo "NEO4J_AUTH must be none or neo4j/<password>" >&2
        exit 1
        ;;
esac
heap=$(sed -n 's/^server.memory.heap.max_size=//p' "$conf")
# The shell gives way to the server, which so gets the signals.
exec java ${heap:+-Xmx$heap} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED \
    --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.util.concurrent=ALL-UNNAMED \
    --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
    -cp "$NEO4J_HOME/lib/*" org.neo4j.server.Neo4jCommunity --home-dir="$NEO4J_HOME" --config-dir="$NEO4J_HOME/conf" --console-mode
