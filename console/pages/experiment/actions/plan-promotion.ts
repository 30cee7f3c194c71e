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

/** Returns what the promotion changes; null where the console has no single change for it. */
export function planPromotion(
  { candidate, options = {} }: Sides,
  application: Pick<Application, 'default_instance'>,
  instances: readonly NamedInstance[],
): Promotion | null {
  const before = application.default_instance || 'latest';
  const { instance_id: id, version_id: version } = candidate;
  const hasOptions = Object.keys(options).length > 0;
  if (candidate.ensemble_id || (candidate.option_set && !hasOptions)) return null;
  if (id !== '' && id !== before && !hasOptions) {
    const present = instances.find((one) => one.id === id);
    if (!present && !isLatest(id)) return null;
    const now = present?.version_id ?? '';
    return {
      ...{ kind: 'instance', id, before, version: now },
      ...(version !== '' && now !== '' && now !== version && { tested: version }),
    };
  }
  const present = instances.find((one) => one.id === before);
  if (!present || (id !== '' && id !== before)) return null;
  const isSame =
    (version === '' || version === present.version_id) &&
    Object.entries(options).every(([name, value]) => present.configuration.options[name] === value);
  if (isSame) return { kind: 'none', reason: `${before} is the default instance already.` };
  return {
    ...{ kind: 'version', id: before, before: present.version_id, version: version || present.version_id },
    ...{ options, instance: present },
  };
}
