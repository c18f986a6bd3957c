/* Placeholder until the first file of this layer lands. */
int csim_base_placeholder;
