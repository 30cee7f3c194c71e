/** A wrong setting, or one that names something unusable; the message is for the operator. */
export class ConfigError extends Error {}
