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

