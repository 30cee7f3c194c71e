/** The settings that are lists of labels. server/config.ts passes the variables. */
import { isLabel } from '@switchyard/contract/applications/requirements.ts';
import { LABEL_CHARS_MAX, LABELS_MAX } from '@switchyard/contract/limits.ts';
import { ConfigError } from '../config-error.ts';
import type { Environment } from './read-setting.ts';

/** Parses the labels of a worker, such as `gpu,region=eu`; sorted, each of them once. Throws a ConfigError for any other text. */
export function readLabels(env: Environment, name: string): string[] {
  const labels = [...new Set((env[name] || '').split(',').map((label) => label.trim()))].filter(
    (label) => label !== '',
  );
  const invalid = labels.find((label) => !isLabel(label));
  if (invalid !== undefined)
    throw new ConfigError(
      `${name} has "${invalid}"; a label is a name or a name=value of letters, digits, ".", "_" and "-", at most ${LABEL_CHARS_MAX} characters, such as gpu or region=eu.`,
    );
  if (labels.length > LABELS_MAX)
    throw new ConfigError(`${name} has ${labels.length} labels; a worker may have ${LABELS_MAX}.`);
  return labels.sort();
}
