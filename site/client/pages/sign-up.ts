/**
 * The sign-up page: makes an account, or accepts the invite in the address, and shows the token, which is nowhere kept. The
 * server is asked first whether an account can be made from here.
 */
import type { Admission } from '@switchyard/contract/account/members.ts';

/** What the errors of the API carry. */
interface Refusal {
  error?: string;
  message?: string;
}

type Sent = { admission: Admission } | { problem: string };

async function send(path: string, body: object): Promise<Sent> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer: Admission & Refusal = await response.json();
    if (response.ok) return { admission: answer };
    return { problem: answer.error ?? answer.message ?? `The server answered ${response.status}.` };
  } catch {
    return { problem: 'The server does not answer. Try again when it does.' };
  }
}

/** Why no account can be made from here; empty also when the server cannot say: then sending the form tells. */
async function refusal(): Promise<string> {
  try {
    const response = await fetch('/v1/sign-up', { cache: 'no-store' });
    const answer: { allowed?: boolean; reason?: string } = await response.json();
    return answer.allowed === false ? (answer.reason ?? '') : '';
  } catch {
    return '';
  }
}

function commandFor(token: string): string {
  return [
    `export SWITCHYARD_URL=${location.origin}`,
    `export SWITCHYARD_TOKEN=${token}`,
    'curl -sS --fail-with-body "$SWITCHYARD_URL/v1/account" \\',
    '  -H "Authorization: Bearer $SWITCHYARD_TOKEN"',
  ].join('\n');
}

export function startSignUp(root: Element): void {
  const form = (name: string) => root.querySelector<HTMLFormElement>(`[data-form=${name}]`);
  const [account, invited] = [form('account'), form('invite')];
  const admitted = root.querySelector<HTMLElement>('[data-admitted]');
  const refused = root.querySelector<HTMLElement>('[data-refused]');
  if (!account || !invited || !admitted || !refused) return;
  const fill = (place: string, text: string): void => {
    const element = root.querySelector(place);
    if (element) element.textContent = text;
  };

  const invite = new URLSearchParams(location.search).get('invite') ?? '';
  const admit = ({ account: to, key, token }: Admission): void => {
    if (invite !== '') fill('[data-admitted] h2', 'Invite accepted');
    account.hidden = true;
    invited.hidden = true;
    fill('[data-account]', to.name);
    fill('[data-email]', key.user_email);
    fill('[data-role]', key.role);
    fill('[data-place=token]', token);
    fill('[data-place=command]', commandFor(token));
    admitted.hidden = false;
    // The invite is used up, and need not stand in the history.
    history.replaceState(null, '', location.pathname);
    admitted.querySelector('h2')?.focus();
  };

  const handle = (one: HTMLFormElement, path: string, bodyOf: (fields: FormData) => object): void => {
    const problem = one.querySelector('[data-problem]');
    const button = one.querySelector('button');
    let sending = false;
    one.addEventListener('submit', async (event) => {
      event.preventDefault();
      // The button stays in the order of the keyboard while it waits, so the focus is not lost.
      if (sending) return;
      sending = true;
      button?.setAttribute('aria-disabled', 'true');
      if (problem) problem.textContent = '';
      const sent = await send(path, bodyOf(new FormData(one)));
      sending = false;
      button?.removeAttribute('aria-disabled');
      if ('admission' in sent) admit(sent.admission);
      else if (problem) problem.textContent = sent.problem;
    });
  };

  handle(account, '/v1/accounts', (fields) => ({ name: fields.get('name'), email: fields.get('email') }));
  handle(invited, '/v1/account/invites/accept', (fields) => {
    const name = fields.get('name');
    return { invite, ...(name ? { name } : {}) };
  });
  if (invite !== '') {
    account.hidden = true;
    invited.hidden = false;
    return;
  }
  void refusal().then((reason) => {
    if (reason === '') return;
    account.hidden = true;
    fill('[data-reason]', reason);
    refused.hidden = false;
  });
}
