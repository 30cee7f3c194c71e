/** An instance that is being written: its values, and the request that they become. */
import type { OptionItem } from '@switchyard/contract/applications/executables.ts';
import type { Instance } from '@switchyard/contract/applications/instances.ts';
import { findOptionValueError, formatOptionValue } from '@switchyard/contract/applications/option-rules.ts';
import type { Version } from '@switchyard/contract/applications/versions.ts';
import { EXECUTION_CLASS_DEFAULT, EXECUTION_CLASSES } from '@switchyard/contract/execution-classes.ts';
import { PRIORITY_DEFAULT } from '@switchyard/contract/limits.ts';
import { FORMAT_TYPES } from '@switchyard/contract/schemas/field-schemas.ts';
import type { FieldLabels } from '../../ui/forms/conflicts/merge-drafts.ts';
import { parseSeconds } from '../../ui/forms/seconds/parse-seconds.ts';
import { splitList } from '../../ui/forms/split-text.ts';
import type { PresetValue } from '../../ui/options/option-fields.tsx';

type Configuration = Instance['configuration'];

/** The values of the form. An empty text of an option, a format or the collection stands for none. */
export interface InstanceDraft {
  id: string;
  name: string;
  description: string;
  version: string;
  options: Readonly<Record<string, string>>;
  executionClass: string;
  /** In seconds; empty for that of the execution class. */
  maxDuration: string;
  secrets: string;
  priority: string;
  isRefusedWithoutSlot: boolean;
  hasNetwork: boolean;
  /** Labels, and licences with their tokens as in `gurobi = 1`, separated by commas. */
  labels: string;
  licenses: string;
  /** The form does not show it, and an update must not lose it. */
  apiAccess: Configuration['api_access'];
  inputFormat: string;
  outputFormat: string;
}

/** The labels of the fields of the form. */
export const DRAFT_LABELS = {
  name: 'Name',
  description: 'Description',
  version: 'Version',
  options: 'Options',
  executionClass: 'Execution class',
  maxDuration: 'Maximum duration, s',
  secrets: 'Secrets collection',
  priority: 'Queue priority',
  isRefusedWithoutSlot: 'Refuse a run while no slot is free',
  hasNetwork: 'Runs may use the network',
  labels: 'Required labels',
  licenses: 'Licence tokens',
  inputFormat: 'Input format',
  outputFormat: 'Output format',
} satisfies FieldLabels<InstanceDraft>;

/** Returns the values of an empty form. */
export function createEmptyDraft(version: string): InstanceDraft {
  return {
    id: '',
    name: '',
    description: '',
    version,
    options: {},
    executionClass: EXECUTION_CLASS_DEFAULT,
    maxDuration: '',
    secrets: '',
    priority: String(PRIORITY_DEFAULT),
    isRefusedWithoutSlot: false,
    hasNetwork: false,
    labels: '',
    licenses: '',
    apiAccess: undefined,
    inputFormat: '',
    outputFormat: '',
  };
}

/** Returns the values of an instance. */
export function createDraft({ configuration, ...instance }: Instance): InstanceDraft {
  return {
    id: instance.id,
    name: instance.name,
    description: instance.description,
    version: instance.version_id,
    options: configuration.options,
    executionClass: configuration.execution_class,
    maxDuration: String(configuration.max_duration ?? ''),
    secrets: configuration.secrets_collection_id,
    priority: String(configuration.queuing.priority),
    isRefusedWithoutSlot: configuration.queuing.disabled,
    hasNetwork: configuration.network,
    labels: (configuration.requirements?.labels ?? []).join(', '),
    licenses: Object.entries(configuration.requirements?.licenses ?? {})
      .map(([name, tokens]) => `${name} = ${tokens}`)
      .join(', '),
    apiAccess: configuration.api_access,
    inputFormat: configuration.format?.input?.type ?? '',
    outputFormat: configuration.format?.output?.type ?? '',
  };
}

/** Returns the requirements; a licence without a number needs one token, and the server refuses any other text as a name. */
function buildRequirements(draft: InstanceDraft) {
  const labels = splitList(draft.labels);
  const licenses = splitList(draft.licenses).map((text) => {
    const [, name = text, tokens = '1'] = /^(\S+)\s*=\s*(\d+)$/.exec(text) ?? [];
    return [name, Number(tokens)] as const;
  });
  if (labels.length + licenses.length === 0) return {};
  return { requirements: { labels, licenses: Object.fromEntries(licenses) } };
}

/** Returns the configuration of the draft. It is complete, because an update replaces the configuration as a whole. */
function buildConfiguration(draft: InstanceDraft) {
  const execution_class = EXECUTION_CLASSES.find((name) => name === draft.executionClass);
  const input = FORMAT_TYPES.find((type) => type === draft.inputFormat);
  const output = FORMAT_TYPES.find((type) => type === draft.outputFormat);
  return {
    ...(execution_class && { execution_class }),
    ...(draft.maxDuration.trim() !== '' && { max_duration: parseSeconds(draft.maxDuration) }),
    options: Object.fromEntries(Object.entries(draft.options).filter(([, value]) => value !== '')),
    secrets_collection_id: draft.secrets,
    queuing: { priority: Number(draft.priority), disabled: draft.isRefusedWithoutSlot },
    ...((input || output) && {
      format: { ...(input && { input: { type: input } }), ...(output && { output: { type: output } }) },
    }),
    network: draft.hasNetwork,
    ...(draft.apiAccess && { api_access: draft.apiAccess }),
    ...buildRequirements(draft),
  };
}

/** Returns the body that creates the instance. */
export function buildCreation(draft: InstanceDraft) {
  const id = draft.id.trim();
  const name = draft.name.trim();
  const description = draft.description.trim();
  return {
    ...(id !== '' && { id }),
    ...(name !== '' && { name }),
    version_id: draft.version,
    ...(description !== '' && { description }),
    configuration: buildConfiguration(draft),
  };
}

/** Returns the body that gives the instance the values of the draft. */
export function buildUpdate(draft: InstanceDraft) {
  return {
    name: draft.name.trim(),
    description: draft.description.trim(),
    version_id: draft.version,
    configuration: buildConfiguration(draft),
  };
}

/** Returns the default of the option; null for none. */
export function findDefault(item: OptionItem): PresetValue | null {
  if (item.default === undefined || item.default === null) return null;
  return { value: formatOptionValue(item.default), source: 'default' };
}

/** Returns the error of each value that every run of the instance would be refused for, by the name of its option. */
export function findValueErrors(draft: InstanceDraft, version: Version | undefined): Map<string, string> {
  const definitions = version?.executable.requirements.options;
  const errors = new Map<string, string>();
  if (definitions?.validation?.enforce !== 'all') return errors;
  for (const item of definitions.items ?? []) {
    const value = draft.options[item.name];
    const error = value ? findOptionValueError(item, value) : null;
    if (error !== null) errors.set(item.name, error);
  }
  return errors;
}
