/**
 * The sign-up page: creates an account, or accepts the invite in the address, and shows the token, which is stored
 * nowhere. It first asks the server whether this address may create an account.
 */
import type { Admission } from '@switchyard/contract/account/members.ts';

/** The body of an error response of the API. */
interface ErrorBody {
  error?: string;
  message?: string;
}

type SignUpResult = { admission: Admission } | { problem: string };

async function sendForm(path: string, fields: object): Promise<SignUpResult> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    const body: Admission & ErrorBody = await response.json();
    if (response.ok) return { admission: body };
    return { problem: body.error ?? body.message ?? `The server returned ${response.status}.` };
  } catch {
    return { problem: 'The server does not respond. Try again later.' };
  }
}

/** Returns why this address may not create an account. Empty when it may, or on an error: the form then shows it. */
async function fetchRefusal(): Promise<string> {
  try {
    const response = await fetch('/v1/sign-up', { cache: 'no-store' });
    const body: { allowed?: boolean; reason?: string } = await response.json();
    return body.allowed === false ? (body.reason ?? '') : '';
  } catch {
    return '';
  }
}

function formatCommand(token: string): string {
  return [
    `export SWITCHYARD_URL=${location.origin}`,
    `export SWITCHYARD_TOKEN=${token}`,
    'curl -sS --fail-with-body "$SWITCHYARD_URL/v1/account" \\',
    '  -H "Authorization: Bearer $SWITCHYARD_TOKEN"',
  ].join('\n');
}

/** Shows the form for a new account or for the invite in the address, and the token once it is sent. */
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
    fill('[data-place=command]', formatCommand(token));
    admitted.hidden = false;
    // The invite works once, so it need not stay in the history.
    history.replaceState(null, '', location.pathname);
    admitted.querySelector('h2')?.focus();
  };

  const handleSubmit = (
    target: HTMLFormElement,
    path: string,
    buildBody: (fields: FormData) => object,
  ): void => {
    const problem = target.querySelector('[data-problem]');
    const button = target.querySelector('button');
    let isSending = false;
    target.addEventListener('submit', async (event) => {
      event.preventDefault();
      // A disabled button would lose the focus, so it is only marked as disabled.
      if (isSending) return;
      isSending = true;
      button?.setAttribute('aria-disabled', 'true');
      if (problem) problem.textContent = '';
      const result = await sendForm(path, buildBody(new FormData(target)));
      isSending = false;
      button?.removeAttribute('aria-disabled');
      if ('admission' in result) admit(result.admission);
      else if (problem) problem.textContent = result.problem;
    });
  };

  handleSubmit(account, '/v1/accounts', (fields) => ({
    name: fields.get('name'),
    email: fields.get('email'),
  }));
  handleSubmit(invited, '/v1/account/invites/accept', (fields) => {
    const name = fields.get('name');
    return { invite, ...(name ? { name } : {}) };
  });
  if (invite !== '') {
    account.hidden = true;
    invited.hidden = false;
    return;
  }
  void fetchRefusal().then((reason) => {
    if (reason === '') return;
    account.hidden = true;
    fill('[data-reason]', reason);
    refused.hidden = false;
  });
}
