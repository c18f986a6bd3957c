/* Placeholder until the first file of this layer lands. */
int csim_exec_placeholder;
