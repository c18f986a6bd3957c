# bash completion for collsim: the program itself knows its verbs, options and values.
_collsim() {
  local IFS=$'\n'
  compopt +o default 2>/dev/null
  # shellcheck disable=SC2207  # one candidate a line
  COMPREPLY=($("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default 2>/dev/null
}
complete -o default -F _collsim collsim
