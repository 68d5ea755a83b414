#!/usr/bin/env bash
# Sends readings, one JSON object a line on standard input, to a dataset of a node. Each is stored exactly once, however
# often the line breaks or the node restarts: a reading has one Idempotency-Key, made from its own text, and is sent
# until the node has answered for good. A reading that the node refuses lands in $REJECTED with the reason. Where the
# node refuses the device itself (a wrong token, no right), it stops and says why: sending again would not help.
#
#   SERVER=http://localhost:8080 TOKEN=pst_… DATASET=demo/readings ./send-readings.sh < readings.ndjson

set -uo pipefail
: "${SERVER:=${PROOFSTREAM_SERVER:-http://localhost:8080}}" "${TOKEN:?a token with the scope ingest, and create for a new dataset}" "${DATASET:=demo/readings}"
: "${REJECTED:=rejected.ndjson}" "${FIRST_WAIT_S:=1}" "${LONGEST_WAIT_S:=60}"

answer=$(mktemp) && headers=$(mktemp) || exit 1
trap 'rm -f "$answer" "$headers"' EXIT

send() { # reading, key, query: prints the status, 000 when there was no answer
  curl --silent --max-time 60 --output "$answer" --dump-header "$headers" --write-out '%{http_code}' \
    --header "Authorization: Bearer $TOKEN" --header 'Content-Type: application/x-ndjson' \
    --header "Idempotency-Key: $2" --data-binary "$1" "$SERVER/$DATASET/ingest$3"
}

member() { # name: a text member of the node's answer
  sed -n 's/.*"'"$1"'":"\(\([^"\\]\|\\.\)*\)".*/\1/p' "$answer" | head -n 1
}

create='' # The dataset is made with the first reading where it is missing; later ones never add columns or datasets.
is_there=no
while IFS= read -r reading || [ -n "$reading" ]; do
  [ -n "$reading" ] || continue
  key=$(printf '%s' "$reading" | openssl dgst -sha256 -r | cut -c1-64)
  wait_s=$FIRST_WAIT_S
  while :; do
    : > "$answer"
    : > "$headers"
    status=$(send "$reading" "$key" "$create")
    case $status in
      200 | 202) # 202: durable, in a block soon
        create=''
        is_there=yes
        break
        ;;
      000 | 408 | 429 | 5??) # not now; the reading may be stored, and the same key makes the repeat safe
        asked_s=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]*\).*/\1/p' "$headers")
        echo "status $status, again in ${asked_s:-$wait_s} s. $(member detail)" >&2
        sleep "${asked_s:-$wait_s}"
        wait_s=$((wait_s * 2 > LONGEST_WAIT_S ? LONGEST_WAIT_S : wait_s * 2))
        ;;
      404 | 401 | 403)
        if [ "$status" = 404 ] && [ $is_there = no ] && [ -z "$create" ]; then
          create='?create=true'
          continue
        fi
        echo "status $status: $(member detail) $(member hint)" >&2
        echo "stopped before this reading, which is not stored: $reading" >&2
        exit 1
        ;;
      *) # never as it is: keep it with the reason, and go on
        echo "status $status: $(member detail) The reading is kept in $REJECTED." >&2
        printf '{"status":%s,"reading":%s,"answer":%s}\n' "$status" "$reading" "$(tr -d '\n' < "$answer")" >> "$REJECTED"
        break
        ;;
    esac
  done
done
