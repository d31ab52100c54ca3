#!/bin/sh
# Creates a certificate authority (ca.crt, ca.key) in the current directory, and a certificate with its key
# for each machine, valid as server and as client. Each certificate also has the name `anteroom`, which
# the balancer uses for all machines. Keep ca.key off the machines.
#
#     sh certificates.sh NAME=ADDRESS...
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
umask 077
[ $# -gt 0 ] || {
	echo 'usage: sh certificates.sh NAME=ADDRESS...' >&2
	exit 2
}
key()
{
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1"
}
key ca.key
openssl req -x509 -new -key ca.key -days 3650 -subj '/CN=Anteroom cluster' -out ca.crt
for machine in "$@"; do
	name=${machine%%=*}
	key "$name.key"
	openssl req -new -key "$name.key" -subj "/CN=$name" -out "$name.csr"
	echo "subjectAltName=DNS:$name,DNS:anteroom,IP:${machine#*=}" >"$name.extensions"
	openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 \
		-extfile "$name.extensions" -out "$name.crt"
	rm "$name.csr" "$name.extensions"
done
chmod 644 -- *.crt
