/** Operations on single sign-on. */
import { forbidden, notFound } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatSignOnCookie, isFromOwnPage } from '../../platform/http/requests/session-cookie.ts';
import { findAccount } from '../account/store.ts';
import { SIGN_ON_SECONDS } from './sign-on-states.ts';
import { requireSingleSignOn } from './single-sign-on.ts';

const DISCOVERY_PATH = '/.well-known/openid-configuration';

export const getSingleSignOn: OperationHandler<'getSingleSignOn'> = async ({ singleSignOn }) => {
  if (!singleSignOn)
    return { status: 200, body: { enabled: false, provider: '', discovery_url: '', cli_client_id: '' } };
  const { issuer, cliClientId } = singleSignOn.settings;
  return {
    status: 200,
    body: {
      enabled: true,
      provider: new URL(issuer).host,
      discovery_url: `${issuer.replace(/\/$/, '')}${DISCOVERY_PATH}`,
      cli_client_id: cliClientId ?? '',
    },
  };
};

export const startSingleSignOn: OperationHandler<'startSingleSignOn'> = async (
  { singleSignOn, publicUrl },
  { headers },
) => {
  // Another site could otherwise replace the cookie of a sign-in under way.
  if (!isFromOwnPage(publicUrl(), 'GET', headers))
    throw forbidden('Only the console of this server starts a sign-in: the request lacks its header.');
  const { url, secret } = await requireSingleSignOn(singleSignOn).start();
  return {
    status: 200,
    body: { url },
    headers: {
      'cache-control': 'no-store',
      'set-cookie': formatSignOnCookie(publicUrl(), secret, SIGN_ON_SECONDS),
    },
  };
};

export const getSsoDomain: OperationHandler<'getSsoDomain'> = async ({ singleSignOn }, { query }) => {
  const domain = query.domain.toLowerCase();
  const enabled = singleSignOn?.settings.domains.includes(domain) ?? false;
  return { status: 200, body: { enabled, domain_identifier: enabled ? domain : '' } };
};

export const listOwnOrganizations: OperationHandler<'listOwnOrganizations'> = async (
  { database },
  { caller },
) => {
  const account = await findAccount(database.read, caller.account);
  if (!account) throw notFound('The account is gone.');
  const { id, name } = account;
  return { status: 200, body: [{ id, name, role: caller.role, pending_invite: false }] };
};
