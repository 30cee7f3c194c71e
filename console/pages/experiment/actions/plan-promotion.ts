/** What makes the candidate of an experiment the default of its application. */
import type { Application } from '@switchyard/contract/applications/applications.ts';
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { isLatest } from '@switchyard/contract/applications/reserved-instances.ts';
import type { Sides } from '../sides.ts';

type NamedInstance = Pick<Instance, 'id' | 'version_id' | 'configuration' | 'updated_at'>;

/** Another instance becomes the default, or the default instance gets another version or other options. */
export type Promotion =
  | { kind: 'none'; reason: string }
  | {
      kind: 'instance';
      id: string;
      before: string;
      version: string;
      /** The version that it ran in the experiment, if it has another one now. */
      tested?: string;
    }
  | {
      kind: 'version';
      id: string;
      before: string;
      version: string;
      /** Options of the candidate that the instance gets. */
      options: Readonly<Record<string, string>>;
      instance: NamedInstance;
    };

const explain = (reason: string): Promotion => ({ kind: 'none', reason });

/** Returns what the promotion changes, or why it cannot; null for a candidate whose options are not known. */
export function planPromotion(
  { candidate, options = {} }: Sides,
  application: Pick<Application, 'default_instance'>,
  instances: readonly NamedInstance[],
): Promotion | null {
  const before = application.default_instance || 'latest';
  const { instance_id: id, version_id: version } = candidate;
  const hasOptions = Object.keys(options).length > 0;
  if (candidate.ensemble_id)
    return explain(`An ensemble cannot be the default: a run names ${candidate.ensemble_id} itself.`);
  if (candidate.option_set && !hasOptions) return null;
  if (id !== '' && id !== before && !hasOptions) {
    const present = instances.find((one) => one.id === id);
    if (!present && !isLatest(id)) return explain(`Instance ${id} was deleted.`);
    const now = present?.version_id ?? '';
    return {
      ...{ kind: 'instance', id, before, version: now },
      ...(version !== '' && now !== '' && now !== version && { tested: version }),
    };
  }
  const present = instances.find((one) => one.id === before);
  if (id !== '' && id !== before)
    return explain(
      `The options are those of a run of ${id}, and ${before} is the default: change them in ${id}.`,
    );
  if (!present) return explain(`The default instance ${before} has no version and no options of its own.`);
  const isSame =
    (version === '' || version === present.version_id) &&
    Object.entries(options).every(([name, value]) => present.configuration.options[name] === value);
  if (isSame) return explain(`${before} is the default instance already.`);
  return {
    ...{ kind: 'version', id: before, before: present.version_id, version: version || present.version_id },
    ...{ options, instance: present },
  };
}
