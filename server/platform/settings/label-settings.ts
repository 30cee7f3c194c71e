/** The settings that are lists of labels. server/platform/config.ts passes the variables. */
import { findInvalidLabel, LABEL_RULE } from '@switchyard/contract/applications/requirements.ts';
import { LABELS_MAX } from '@switchyard/contract/limits.ts';
import { ConfigError } from '../config-error.ts';
import type { Environment } from './read-setting.ts';

/** Parses the labels of a worker, such as `gpu,region=eu`; sorted, each of them once. Throws a ConfigError for any other text. */
export function readLabels(env: Environment, name: string): string[] {
  const labels = [...new Set((env[name] || '').split(',').map((label) => label.trim()))].filter(
    (label) => label !== '',
  );
  const invalid = findInvalidLabel(labels);
  if (invalid !== undefined) throw new ConfigError(`${name} has "${invalid}"; ${LABEL_RULE}`);
  if (labels.length > LABELS_MAX)
    throw new ConfigError(`${name} has ${labels.length} labels; a worker may have ${LABELS_MAX}.`);
  return labels.sort();
}
