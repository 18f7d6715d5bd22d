#!/bin/sh
# Makes the missing secrets of compose.yaml in deploy/secrets. Keep a copy: without encryption_key the signing keys of all
# subscriptions are lost.
set -eu
directory=${1:-$(dirname "$0")/secrets}
mkdir -p "$directory"
# No other user of this machine can enter the directory. The users in the containers read the files themselves.
chmod 700 "$directory"
umask 022

keep() {
  [ -s "$directory/$1" ] || printf '%s\n' "$2" >"$directory/$1"
}

keep postgres_password "$(openssl rand -hex 32)"
keep redis_password "$(openssl rand -hex 32)"
# The operator's bearer key.
keep admin_key "$(openssl rand -hex 32)"
keep encryption_key "$(openssl rand -base64 32)"
keep database_url "postgres://rouse:$(cat "$directory/postgres_password")@postgres:5432/rouse"
keep bus_url "redis://:$(cat "$directory/redis_password")@redis:6379"
