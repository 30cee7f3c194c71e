/**
 * One type for the id of each resource, so that passing an instance id for an application id does not compile. Only the
 * schemas below, for requests, and the database, for rows, create these types.
 */
import Type from 'typebox';
import { ID_CHARS_MAX } from '../limits.ts';

/** Any text without NUL, which PostgreSQL cannot store. */
export const NO_NUL_PATTERN = '^[^\\u0000]*$';

/**
 * Text of one line that looks like what it is: without control characters, line breaks, and the marks that reorder or hide
 * text around them. Names are chosen by one person and read by another, in tables, mails and terminals.
 */
export const NAME_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]*$';

declare const brand: unique symbol;
type Id<Noun extends string> = string & { readonly [brand]: Noun };

export type AccountId = Id<'account'>;
export type KeyId = Id<'key'>;
export type MemberId = Id<'member'>;
export type SessionId = Id<'session'>;
export type DeviceAuthorizationId = Id<'device-authorization'>;
export type ApplicationId = Id<'application'>;
export type ExecutableId = Id<'executable'>;
export type VersionId = Id<'version'>;
export type InstanceId = Id<'instance'>;
export type SecretsCollectionId = Id<'secrets-collection'>;
export type RunId = Id<'run'>;
export type UploadId = Id<'upload'>;
export type InputId = Id<'input'>;
export type InputSetId = Id<'input-set'>;
export type RunViewId = Id<'run-view'>;
export type AssetId = Id<'asset'>;
export type ExperimentId = Id<'experiment'>;
export type EnsembleId = Id<'ensemble'>;
export type WebhookId = Id<'webhook'>;
export type WorkerTokenId = Id<'worker-token'>;
export type EventId = Id<'event'>;
export type ConversationId = Id<'conversation'>;
export type EntryId = Id<'entry'>;

/** The alphabet of every caller-chosen id. */
export const ID_PATTERN = `^[a-z0-9-]{1,${ID_CHARS_MAX}}$`;

/** Returns a schema for a caller-chosen id: lowercase letters, digits and hyphens. */
export function newIdSchema<T extends string>(noun: string) {
  return Type.Unsafe<T>(
    Type.String({
      pattern: ID_PATTERN,
      description: `Id of the ${noun}: 1 to ${ID_CHARS_MAX} lowercase letters, digits and hyphens. You cannot change it later.`,
    }),
  );
}

/** Returns a schema for the id of an existing resource. Any text is well-formed; an unknown id returns 404 or 400. */
export function idSchema<T extends string>(description: string) {
  return Type.Unsafe<T>(Type.String({ description }));
}

/** Returns the same schema for bodies and queries. It refuses NUL, so that no database query contains it. */
export function idReferenceSchema<T extends string>(description: string) {
  return Type.Unsafe<T>(Type.String({ pattern: NO_NUL_PATTERN, description }));
}
