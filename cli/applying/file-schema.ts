/** The schema of `switchyard.yaml`. Fields of resources are those of the API, from its contract. */
import { quotaFields } from '@switchyard/contract/account/quotas.ts';
import { WebhookCreate } from '@switchyard/contract/account/webhook-schemas.ts';
import { createApplication } from '@switchyard/contract/applications/applications.ts';
import { createInstance } from '@switchyard/contract/applications/instances.ts';
import { retentionFields } from '@switchyard/contract/applications/retention.ts';
import { createSecretsCollection, Secret } from '@switchyard/contract/applications/secrets.ts';
import { AcceptanceTestCreate } from '@switchyard/contract/experiments/acceptance-tests.ts';
import { BatchExperimentCreate } from '@switchyard/contract/experiments/batch-experiments.ts';
import { ShadowTestCreate } from '@switchyard/contract/experiments/shadow-tests.ts';
import { SwitchbackTestCreate } from '@switchyard/contract/experiments/switchback-tests.ts';
import { ID_PATTERN } from '@switchyard/contract/schemas/ids.ts';
import { isRecord } from '@switchyard/contract/schemas/is-record.ts';
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** Verdicts with which a gate can be passed. */
export const GATE_VERDICTS = ['better', 'equivalent', 'same', 'higher', 'lower'] as const;

const closed = { additionalProperties: false } as const;
const remove = Type.Optional(
  Type.Literal(true, { description: 'true: the resource is deleted. The other fields are ignored.' }),
);

/** Returns a map from ids to entries. */
function byId<Entry extends TSchema>(entry: Entry, description: string) {
  return Type.Optional(
    Type.Unsafe<Record<string, Static<Entry>>>({
      type: 'object',
      propertyNames: { pattern: ID_PATTERN },
      additionalProperties: entry,
      description,
    }),
  );
}

const { name, description, default_instance, default_experiment_instance, objective, indicators } =
  createApplication.body.schema.properties;
const instanceFields = createInstance.body.schema.properties;
const collectionFields = createSecretsCollection.body.schema.properties;

const SecretReference = Type.Object(
  {
    type: Secret.properties.type,
    location: Secret.properties.location,
    from: Type.Object(
      {
        env: Type.Optional(
          Type.String({ minLength: 1, description: 'The environment variable with the value.' }),
        ),
        file: Type.Optional(
          Type.String({ minLength: 1, description: 'The path of the file with the value.' }),
        ),
      },
      {
        ...closed,
        minProperties: 1,
        maxProperties: 1,
        description: 'Source of the value, which `apply` reads.',
      },
    ),
  },
  { ...closed, description: 'A secret. Its value is never in this file.' },
);

/** The fields of a gate that the promotion chooses. */
const gateFields = (type: string, passes: string) => ({
  type: Type.Literal(type, { description: `${passes}` }),
  name: Type.Optional(
    Type.String({
      pattern: ID_PATTERN,
      description: 'Name of the gate, part of the id of its experiment. The default is the type.',
    }),
  ),
});
const verdicts = Type.Optional(
  Type.Unsafe<(typeof GATE_VERDICTS)[number][]>({
    type: 'array',
    items: { type: 'string', enum: [...GATE_VERDICTS] },
    minItems: 1,
    description:
      'Verdicts on the primary indicators that pass the gate. The default is better and equivalent. The verdict same, where all inputs tie, passes only if it is listed.',
  }),
);

/** Returns the named properties. Types of gates are not needed: the server validates their experiments. */
function pickFields(properties: TProperties, names: readonly string[]): TProperties {
  return Object.fromEntries(Object.entries(properties).filter(([field]) => names.includes(field)));
}

const comparison = ['objectives', 'primary', 'guardrails'] as const;

const Gate = Type.Unsafe<GateEntry>({
  type: 'object',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  description: 'A test that a version must pass before it moves on. The fields are those of the API.',
  oneOf: [
    Type.Object(
      {
        ...gateFields('acceptance', 'Passed if the acceptance test is passed.'),
        ...pickFields(AcceptanceTestCreate.properties, [
          ...['metrics', 'failure_margin', 'input_set_id', 'repetitions', 'cluster_by', 'features'],
          ...['priority', 'max_duration'],
        ]),
      },
      closed,
    ),
    Type.Object(
      {
        ...gateFields('batch', 'Passed by the verdicts of a batch experiment.'),
        verdicts,
        ...pickFields(BatchExperimentCreate.properties, [
          // Option sets would make several comparisons, and a gate decides by one.
          ...['input_set_id', 'repetitions', 'seeds', 'seed_option', 'cluster_by', 'features'],
          ...['priority', 'max_duration'],
          ...comparison,
        ]),
      },
      closed,
    ),
    Type.Object(
      {
        ...gateFields('shadow', 'Passed by the verdicts of a shadow test on copies of live runs.'),
        verdicts,
        ...pickFields(ShadowTestCreate.properties, [
          ...['termination_events', 'sample_share', 'cluster_by'],
          ...comparison,
        ]),
      },
      closed,
    ),
    Type.Object(
      {
        ...gateFields('switchback', 'Passed by the verdicts of a switchback test on live runs.'),
        verdicts,
        ...pickFields(SwitchbackTestCreate.properties, ['generate_random_plan', ...comparison]),
      },
      closed,
    ),
  ],
});

/** A gate. Its other fields are those of the request that creates its experiment. */
export interface GateEntry {
  type: 'acceptance' | 'batch' | 'shadow' | 'switchback';
  name?: string;
  verdicts?: (typeof GATE_VERDICTS)[number][];
  [field: string]: unknown;
}

const InstanceEntry = Type.Object(
  {
    delete: remove,
    name: instanceFields.name,
    description: instanceFields.description,
    version_id: Type.Optional(
      Type.String({
        description:
          'The version. Leave it out for an instance that `switchyard promote` moves: `apply` then never changes its version.',
      }),
    ),
    configuration: instanceFields.configuration,
    gates: Type.Optional(
      Type.Array(Gate, { minItems: 1, description: 'The gates of `switchyard promote`, in order.' }),
    ),
  },
  { ...closed, description: 'An instance. A field of `configuration` that is absent stays as it is.' },
);
export type InstanceEntry = Static<typeof InstanceEntry>;

const SecretsEntry = Type.Object(
  {
    delete: remove,
    name: collectionFields.name,
    description: collectionFields.description,
    secrets: Type.Optional(
      Type.Array(SecretReference, { description: 'The secrets of the collection, by reference.' }),
    ),
  },
  { ...closed, description: 'A secrets collection.' },
);
export type SecretsEntry = Static<typeof SecretsEntry>;

const Retention = Type.Object(retentionFields, {
  ...closed,
  description: 'The retention policy.',
});
const Quotas = Type.Object(quotaFields, {
  ...closed,
  description: 'The quotas.',
});

const ApplicationEntry = Type.Object(
  {
    delete: remove,
    name: Type.Optional(name),
    description,
    default_instance,
    default_experiment_instance,
    objective,
    indicators,
    retention: Type.Optional(Retention),
    quotas: Type.Optional(Quotas),
    secrets: byId(SecretsEntry, 'Secrets collections by id.'),
    instances: byId(InstanceEntry, 'Instances by id.'),
  },
  { ...closed, description: 'An application. Versions come from `switchyard push`.' },
);
export type ApplicationEntry = Static<typeof ApplicationEntry>;

const WebhookEntry = Type.Object(
  {
    delete: remove,
    event_types: Type.Optional(WebhookCreate.properties.event_types),
    endpoint_url: Type.Optional(WebhookCreate.properties.endpoint_url),
    description: Type.Optional(WebhookCreate.properties.description),
  },
  { ...closed, description: 'A webhook. Its signing secret is made by the server.' },
);
export type WebhookEntry = Static<typeof WebhookEntry>;

const SwitchyardFile = Type.Object(
  {
    applications: byId(ApplicationEntry, 'Applications by id.'),
    webhooks: byId(WebhookEntry, 'Webhooks of the account by id.'),
    quotas: Type.Optional(Quotas),
  },
  {
    ...closed,
    title: 'switchyard.yaml',
    description: 'The resources of a Switchyard account that `switchyard apply` creates and updates.',
  },
);
export type SwitchyardFile = Static<typeof SwitchyardFile>;

/** Returns the JSON schema of `switchyard.yaml`. */
export function buildFileSchema(): Record<string, unknown> {
  return formatJsonSchema(SwitchyardFile);
}

/** Returns the JSON schema of a file. Names of the schemas of the API mean nothing in this one document. */
export function formatJsonSchema(file: TSchema): Record<string, unknown> {
  const schema: unknown = JSON.parse(JSON.stringify(file), (key, value) =>
    key === '$id' ? undefined : value,
  );
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...(isRecord(schema) ? schema : {}) };
}
