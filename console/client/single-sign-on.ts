/** Signing in at the identity provider: the way there, and the way back. */
import { client } from './client.ts';
import { operationQuery, queryClient } from './queries.ts';

/** The query of the server's identity provider. */
export const singleSignOnQuery = operationQuery('getSingleSignOn');

/** The page to show after the sign-in. The provider returns to one address alone, which cannot name it. */
const NEXT_PAGE = 'switchyard-next-page';

/**
 * Leaves for the identity provider; `next` is the page of the console to show after the sign-in. The provider returns to the
 * public address of the server. A browser at another address of it, such as `localhost`, has its cookie there in vain, so it
 * moves to the sign-in page of the public address first.
 */
export async function leaveForProvider(next: string): Promise<void> {
  const { body } = await client.call('startSingleSignOn');
  const callback = new URL(body.url).searchParams.get('redirect_uri') ?? location.href;
  const { origin } = new URL(callback);
  if (origin !== location.origin) {
    location.assign(`${origin}/console/sign-in?${new URLSearchParams({ next }).toString()}`);
    return;
  }
  sessionStorage.setItem(NEXT_PAGE, next);
  location.assign(body.url);
}

/** Returns the page to show after the sign-in. */
export function recallNextPage(): string {
  const next = sessionStorage.getItem(NEXT_PAGE) ?? '/';
  sessionStorage.removeItem(NEXT_PAGE);
  return next;
}

/** Signs in with the query with which the provider sent the browser back. Throws the refusal of the server. */
export async function signInWithCallback(callback: string): Promise<void> {
  await client.call('createSession', { body: { callback } });
  queryClient.clear();
}
