/**
 * The forms that create an account or accept an invite. A script shows the right one, sends it and shows the token.
 * Without scripts the forms are hidden, and the page describes the same steps with curl.
 */
export function SignUp() {
  return (
    <div className="sign-up-form needs-script" data-sign-up="">
      <form method="post" data-form="account" aria-label="New account">
        <Field name="name" label="Name of the account" autoComplete="organization" least={3} required />
        <Field name="email" type="email" label="Your e-mail address" autoComplete="email" required />
        <Send label="Create account" />
      </form>
      <form method="post" data-form="invite" aria-label="Invite" hidden>
        <p>
          You are invited to an account of this server. Accepting it creates your key. An invite works once.
        </p>
        <Field name="name" label="Your name (may be left empty)" autoComplete="name" />
        <Send label="Accept the invite" />
      </form>
      <div className="hint hint-warning" data-refused="" role="note" hidden>
        <p className="hint-title">You cannot create an account from here</p>
        <p data-reason="" />
      </div>
      <div data-admitted="" hidden>
        <h2 tabIndex={-1}>Account created</h2>
        <p>
          This is the token of your key in <strong data-account="" /> as <span data-email="" />, with the role{' '}
          <span data-role="" />. It is shown only once: store it in a password manager.
        </p>
        <Copied label="Token" place="token" />
        <p>Run this in a terminal. The response names the account and the key.</p>
        <Copied label="Command" place="command" />
        <p>
          Then continue with the <a href="/docs/get-started/quickstarts/overview">quickstart</a>, which uses
          the same two variables.
        </p>
      </div>
    </div>
  );
}

interface FieldProps {
  name: string;
  label: string;
  type?: string;
  autoComplete: string;
  least?: number;
  required?: boolean;
}

function Field({ name, label, type = 'text', autoComplete, least, required }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        name={name}
        type={type}
        autoComplete={autoComplete}
        minLength={least}
        maxLength={type === 'email' ? 254 : 48}
        required={required}
      />
    </label>
  );
}

/** Screen readers announce the problem as soon as its text changes. */
function Send({ label }: { label: string }) {
  return (
    <>
      <p className="problem" role="alert" data-problem="" />
      <button type="submit">{label}</button>
    </>
  );
}

function Copied({ label, place }: { label: string; place: string }) {
  return (
    <figure className="code">
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0}>
        <code data-place={place} />
      </pre>
      <button className="copy always" type="button" data-copy="">
        Copy
      </button>
    </figure>
  );
}
