/* Placeholder until the first file of this layer lands. */
int csim_cli_placeholder;
