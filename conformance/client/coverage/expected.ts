/** The methods, commands and tools of the published client that do not work with this server, by patterns of their names. */

const NO_BODY =
  'the change is made; then the client fails on the `204` without a body that the API declares. With `Prefer: return=representation` the response has one';
const DEPRECATED =
  'the client 1.13.0 fails before it sends a request: it calls the module `deprecated` instead of the function';
const DICTIONARY =
  'the client 1.13.0 fails before it sends a request: it calls `to_dict` of a dictionary. The command and the method work';

/** Declined on purpose, or a defect of the client, with the reason as the table shows it. */
export const DECLINED: readonly (readonly [RegExp, string])[] = [
  [
    /^SSOConfiguration\.|^cloud sso |^cloud_sso_/,
    '`404`: settings of the environment configure single sign-on',
  ],
  [/^Integration\.|^list_integrations$/, '`404`: integrations exist for Databricks only'],
  [/^(Application\.update_managed_input|cloud managed-input update)$/, NO_BODY],
  [/^(Account\.queue|Application\.upload_large_input|cloud_get_queue)$/, DEPRECATED],
  [/^cloud_create_(shadow_test|secrets_collection)$/, DICTIONARY],
  [
    /^cloud_poll_run_logs$/,
    'the client 1.13.0 fails before it sends a request: it calls a method that `Application` does not have',
  ],
  [
    /^cloud_create_batch$/,
    '`400`: the tool sends neither instances nor runs. The command and the method work',
  ],
];

/** Limits of what works. */
export const NOTES: readonly (readonly [RegExp, string])[] = [
  [/^auth login$/, '`single-sign-on.test.ts` signs in with an identity provider'],
  [
    /^init$/,
    'its push packs Python packages for `arm64`; a server on `x64` refuses them with the line to add to `app.yaml`',
  ],
  [/^local run visuals$/, 'reads files of this machine only'],
];
