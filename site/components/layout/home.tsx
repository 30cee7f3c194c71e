import { Icon } from '@switchyard/design/icon.tsx';
import type { Neighbour } from '../../page-data.ts';
import { RunPicture } from './run-picture.tsx';

export const HOME_DESCRIPTION =
  'Switchyard is a self-hosted platform for optimisation apps: push an executable, run it through an HTTP API, and keep every version that ever decided anything.';

/** The promises of the product, in the order a newcomer asks. */
const promises = [
  {
    title: 'Nothing to set up',
    text: 'Database, file store, queue, sandbox and this documentation are one program. The same program scales out over PostgreSQL, an S3-compatible store and any number of worker machines.',
  },
  {
    title: 'No acknowledged run is lost',
    text: 'A run is acknowledged once it is durable on disk. When a worker dies, its runs go back to their old place in the queue, and a worker that returns late cannot overwrite the result.',
  },
  {
    title: 'Every version stays',
    text: 'A version never changes, an instance is switched from one to the next in one call, and each run keeps the options it got and where each came from. Experiments compare versions before callers depend on them.',
  },
  {
    title: 'Contained by default',
    text: 'Apps run in the strongest sandbox the machine offers, without network unless you allow it. Every run records how far it was contained.',
  },
];

/** The overview of the product at the root of the site. */
export function Home({ firstPage }: { firstPage: Neighbour }) {
  return (
    <main id="main" className="home" tabIndex={-1}>
      <section className="hero">
        <div>
          <h1>
            <span>Run decision models.</span> <span>Lose no run.</span>
          </h1>
          <p className="intro">
            Switchyard is a self-hosted platform for optimisation apps: routing, scheduling, packing, pricing.
            Push an executable, run it through an HTTP API, and keep every version that ever decided anything.
          </p>
          <p className="actions">
            <a className="primary" href={firstPage.route}>
              Start with the overview <Icon name="next" />
            </a>
            <a href="/console">Open console</a>
          </p>
        </div>
        <RunPicture />
      </section>
      <section className="commands" aria-labelledby="commands">
        <h2 id="commands">Two commands</h2>
        <dl>
          <div>
            <dt>
              <code>npm start</code>
            </dt>
            <dd>
              installs, builds and serves everything on this machine, pushes the sample apps and makes a first
              run.
            </dd>
          </div>
          <div>
            <dt>
              <code>npm test</code>
            </dt>
            <dd>checks all of it against the real program, and runs every example in this documentation.</dd>
          </div>
        </dl>
        <p>Both need Node 20 or newer and nothing else.</p>
      </section>
      <section className="promises" aria-labelledby="promises">
        <h2 id="promises">What you can rely on</h2>
        <ul>
          {promises.map(({ title, text }) => (
            <li key={title}>
              <h3>{title}</h3>
              <p>{text}</p>
            </li>
          ))}
        </ul>
      </section>
    </main>
  );
}
