/**
 * A type per noun's id, so that an instance id cannot be passed where an application id is meant. They are made only
 * where a request enters (the schemas below) and where a row leaves the database.
 */
import Type from 'typebox';
import { ID_CHARS_MAX } from '../limits.ts';

/** Any text that a database keeps: PostgreSQL has no NUL character. */
export const NO_NUL_PATTERN = '^[^\\u0000]*$';

declare const brand: unique symbol;
type Id<Noun extends string> = string & { readonly [brand]: Noun };

export type AccountId = Id<'account'>;
export type KeyId = Id<'key'>;
export type MemberId = Id<'member'>;
export type ApplicationId = Id<'application'>;
export type ExecutableId = Id<'executable'>;
export type VersionId = Id<'version'>;
export type InstanceId = Id<'instance'>;
export type SecretsCollectionId = Id<'secrets-collection'>;
export type RunId = Id<'run'>;
export type UploadId = Id<'upload'>;
export type InputId = Id<'input'>;
export type InputSetId = Id<'input-set'>;
export type AssetId = Id<'asset'>;
export type ExperimentId = Id<'experiment'>;
export type EnsembleId = Id<'ensemble'>;
export type WebhookId = Id<'webhook'>;
export type EventId = Id<'event'>;
export type ConversationId = Id<'conversation'>;
export type EntryId = Id<'entry'>;

/** The alphabet of every id a caller chooses. */
export const ID_PATTERN = `^[a-z0-9-]{1,${ID_CHARS_MAX}}$`;

/** An id a caller chooses: lowercase letters, digits and hyphens. */
export function newIdSchema<T extends string>(noun: string) {
  return Type.Unsafe<T>(
    Type.String({
      pattern: ID_PATTERN,
      description: `Id of the ${noun}: 1 to ${ID_CHARS_MAX} lowercase letters, digits and hyphens. Cannot be changed later.`,
    }),
  );
}

/** An id that names something that should exist: any text is well-formed, what is unknown is a 404 or a 400. */
export function idSchema<T extends string>(description: string) {
  return Type.Unsafe<T>(Type.String({ description }));
}

/** The same where a request names it in its body or query: no id has a NUL character, and no database is asked for one. */
export function idReferenceSchema<T extends string>(description: string) {
  return Type.Unsafe<T>(Type.String({ pattern: NO_NUL_PATTERN, description }));
}
