# Completion of proofstream in bash and zsh, which `proofstream completion` prints. Made by `npm run generate`.

# The commands before the cursor lead to a place in the tree, as does an option that waits for its value. `_proofstream_at`
# says of a place what may come there (words), its options (flags), and those of them that take a value (valued).
_proofstream() {
  local word current=${COMP_WORDS[COMP_CWORD]} place= option= words= flags= valued=
  _proofstream_at ''
  local all_flags="$flags --help" all_valued=$valued
  for word in "${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    if [[ $word == '=' ]]; then
      continue # bash takes --option=value apart
    elif [[ $word == -* ]]; then
      option=
      if [[ " $valued $all_valued " == *" $word "* ]]; then option=$word; fi
    elif [[ -n $option ]]; then
      option=
    elif [[ " $words " == *" $word "* ]]; then
      place="$place $word"
      _proofstream_at "$place"
    fi
  done
  if [[ $current == '=' ]]; then current=; fi
  if [[ -n $option ]]; then
    _proofstream_at "$place $option"
  elif [[ $current == -* ]]; then
    words="$flags $all_flags"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}

if [[ -n ${ZSH_VERSION-} ]]; then
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  autoload -Uz bashcompinit && bashcompinit
fi
complete -o default -F _proofstream proofstream

_proofstream_at() {
  case $1 in
    '') words='serve demo dataset ingest receipt tail query export completion verify bundle pack-evidence ledger doctor token key engine fsck backup restore log streams help' flags='--server --token-file --output -o --version' valued='--server --token-file --output -o' ;;
    *' --output' | *' -o') words='table json ndjson csv' ;;
    ' serve') words='' flags='--config --data --store --roles --without --listen --node-key --anonymous-read --new-datasets --allowed-hosts --public-url --cors-origins --trusted-signers --cut-interval --delete-grace --keep-loose --log --follow --follow-token --ledger-origin --ledger-key --ledger-delay --ledger-policy --ledger-wait --tsa --tsa-interval --mqtt --mqtt-route --mqtt-password --pg-listen --pg-tls-cert --pg-tls-key --log-level --limit-body-bytes --limit-query-ms --limit-result-rows --limit-cache-bytes' valued='--config --data --store --roles --without --listen --node-key --anonymous-read --new-datasets --allowed-hosts --public-url --cors-origins --trusted-signers --cut-interval --delete-grace --keep-loose --log --follow --follow-token --ledger-origin --ledger-key --ledger-delay --ledger-policy --ledger-wait --tsa --tsa-interval --mqtt --mqtt-route --mqtt-password --pg-listen --pg-tls-cert --pg-tls-key --log-level --limit-body-bytes --limit-query-ms --limit-result-rows --limit-cache-bytes' ;;
    ' serve --without') words='console ogc iceberg line-protocol otlp shapefile excel follow ledger witness mqtt pgwire' ;;
    ' serve --anonymous-read') words='true false' ;;
    ' serve --new-datasets') words='public private' ;;
    ' serve --keep-loose') words='true false' ;;
    ' serve --log-level') words='debug info warn error silent' ;;
    ' demo') words='' flags='' valued='' ;;
    ' dataset') words='create list show set delete restore log help' flags='' valued='' ;;
    ' dataset create') words='' flags='--column --schema --description --keyword --private --freshness --proofs --ledger' valued='--column --schema --description --keyword --freshness --proofs --ledger' ;;
    ' dataset create --proofs') words='rows batches' ;;
    ' dataset create --ledger') words='true false' ;;
    ' dataset list') words='' flags='--account --deleted' valued='--account' ;;
    ' dataset show') words='' flags='' valued='' ;;
    ' dataset set') words='' flags='--name --visibility --freshness --description --keyword --proofs --ledger --license --set --attach' valued='--name --visibility --freshness --description --keyword --proofs --ledger --license --set --attach' ;;
    ' dataset set --proofs') words='rows batches' ;;
    ' dataset set --ledger') words='true false' ;;
    ' dataset delete') words='' flags='--yes --grace --if-match' valued='--grace --if-match' ;;
    ' dataset restore') words='' flags='--as' valued='--as' ;;
    ' dataset log') words='' flags='--limit -n --before' valued='--limit -n --before' ;;
    ' ingest') words='' flags='--format -f --no-create --no-wait --dry-run --yes --key --retries --batch-rows --batch-age --stream --header --set --unknown-fields --integers --time-zone --sheet --layer --charset --event-time --event-time-unit --geometry --records --flatten --no-flatten --dedupe --preset' valued='--format -f --key --retries --batch-rows --batch-age --header --set --unknown-fields --integers --time-zone --sheet --layer --charset --event-time --event-time-unit --geometry --records --dedupe --preset' ;;
    ' ingest --format' | ' ingest -f') words='csv tsv json ndjson geojson ndgeojson arrow parquet line-protocol otlp-json otlp-protobuf shapefile excel' ;;
    ' ingest --header') words='present absent' ;;
    ' ingest --unknown-fields') words='reject ignore add' ;;
    ' ingest --integers') words='int64 float64 numbers' ;;
    ' ingest --event-time-unit') words='s ms us ns' ;;
    ' ingest --preset') words='telegraf ttn chirpstack owntracks fluent-bit vector home-assistant collectd cloudevents otlp-logs' ;;
    ' receipt') words='' flags='--signed' valued='' ;;
    ' tail') words='' flags='--limit -n --skip --at --follow -f' valued='--limit -n --skip --at' ;;
    ' query') words='' flags='--limit -n --skip --all --param --proof' valued='--limit -n --skip --param --proof' ;;
    ' export') words='' flags='--format -f --at --base --columns --where --bbox --datetime --system --no-system --geometry' valued='--format -f --at --base --columns --where --bbox --datetime --geometry' ;;
    ' export --format' | ' export -f') words='csv ndjson json parquet xlsx arrows geojson geojsonl iceberg' ;;
    ' completion') words='bash zsh fish' flags='' valued='' ;;
    ' verify') words='' flags='--offline --bundle --signer --policy --tsa-ca --verbose' valued='--signer --policy --tsa-ca' ;;
    ' bundle') words='' flags='--ledger' valued='' ;;
    ' pack-evidence') words='' flags='--query --receipt --from --to --head' valued='--query --receipt --from --to --head' ;;
    ' ledger') words='status prove audit renew help' flags='' valued='' ;;
    ' ledger status') words='' flags='' valued='' ;;
    ' ledger prove') words='' flags='' valued='' ;;
    ' ledger audit') words='' flags='--policy --state' valued='--policy --state' ;;
    ' ledger renew') words='' flags='--reason --config --data --store --ledger-key' valued='--reason --config --data --store --ledger-key' ;;
    ' doctor') words='' flags='--config --data --store --roles --without --listen --node-key --anonymous-read --new-datasets --allowed-hosts --public-url --cors-origins --trusted-signers --cut-interval --delete-grace --keep-loose --log --follow --follow-token --ledger-origin --ledger-key --ledger-delay --ledger-policy --ledger-wait --tsa --tsa-interval --mqtt --mqtt-route --mqtt-password --pg-listen --pg-tls-cert --pg-tls-key --log-level --limit-body-bytes --limit-query-ms --limit-result-rows --limit-cache-bytes' valued='--config --data --store --roles --without --listen --node-key --anonymous-read --new-datasets --allowed-hosts --public-url --cors-origins --trusted-signers --cut-interval --delete-grace --keep-loose --log --follow --follow-token --ledger-origin --ledger-key --ledger-delay --ledger-policy --ledger-wait --tsa --tsa-interval --mqtt --mqtt-route --mqtt-password --pg-listen --pg-tls-cert --pg-tls-key --log-level --limit-body-bytes --limit-query-ms --limit-result-rows --limit-cache-bytes' ;;
    ' doctor --without') words='console ogc iceberg line-protocol otlp shapefile excel follow ledger witness mqtt pgwire' ;;
    ' doctor --anonymous-read') words='true false' ;;
    ' doctor --new-datasets') words='public private' ;;
    ' doctor --keep-loose') words='true false' ;;
    ' doctor --log-level') words='debug info warn error silent' ;;
    ' token') words='create list revoke help' flags='' valued='' ;;
    ' token create') words='' flags='--scope --dataset --count --datasets --expires' valued='--scope --dataset --count --datasets --expires' ;;
    ' token list') words='' flags='' valued='' ;;
    ' token revoke') words='' flags='' valued='' ;;
    ' key') words='show rotate help' flags='' valued='' ;;
    ' key show') words='' flags='' valued='' ;;
    ' key rotate') words='' flags='--leaked --config --data --store --node-key' valued='--leaked --config --data --store --node-key' ;;
    ' engine') words='add help' flags='' valued='' ;;
    ' engine add') words='' flags='--file --config --data' valued='--file --config --data' ;;
    ' fsck') words='' flags='--sweep --pack --dataset' valued='--dataset' ;;
    ' backup') words='' flags='--config --data --store --node-key' valued='--config --data --store --node-key' ;;
    ' restore') words='' flags='--same-log --config --data --store --node-key --log' valued='--config --data --store --node-key --log' ;;
    ' log') words='adopt reject help' flags='' valued='' ;;
    ' log adopt') words='' flags='--accept-loss --config --data --store' valued='--config --data --store' ;;
    ' log reject') words='' flags='--position --reason --partition --log --config --data --store' valued='--position --reason --partition --log --config --data --store' ;;
    ' streams') words='apply help' flags='' valued='' ;;
    ' streams apply') words='' flags='--dry-run --config --log' valued='--config --log' ;;
    *) words= flags= valued= ;;
  esac
}
