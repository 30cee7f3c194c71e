/** What /healthz and /readyz say; the second says more, and none of it is relied on. */
type Answer = {
  status?: string;
  reason?: string;
  version?: string;
  database?: string;
  containment?: string;
  runtimes?: Record<string, { available: boolean; version: string }>;
};

async function ask(address: string): Promise<{ well: boolean; words: string; answer: Answer }> {
  try {
    const response = await fetch(address, { cache: 'no-store', headers: { accept: 'application/json' } });
    const answer: Answer = await response.json();
    const words = [answer.status ?? `answers ${response.status}`, answer.reason].filter(Boolean).join(': ');
    return { well: response.ok, words, answer };
  } catch {
    return { well: false, words: 'does not answer', answer: {} };
  }
}

/** The facts of a readiness answer, in the order a reader asks. */
function factsOf({ version, database, containment, runtimes }: Answer): [string, string][] {
  const apps = Object.entries(runtimes ?? {})
    .filter(([, { available }]) => available)
    .map(([type, { version }]) => `${type} ${version}`.trim());
  const facts: [string, string | undefined][] = [
    ['API', version],
    ['Database', database],
    ['Containment of apps', containment],
    ['Apps it can run', apps.join(', ')],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, value] as [string, string]] : []));
}

/** Fills in the server's own health on the status page. */
export function startServiceStatus(list: Element): void {
  for (const item of list.querySelectorAll<HTMLElement>('[data-address]')) {
    void ask(item.dataset.address ?? '').then(({ well, words, answer }) => {
      const place = item.querySelector('span');
      if (place) place.textContent = words;
      item.dataset.state = well ? 'well' : 'unwell';
      const facts = document.createElement('ul');
      for (const [name, value] of factsOf(answer)) {
        const fact = document.createElement('li');
        fact.textContent = `${name}: ${value}`;
        facts.append(fact);
      }
      if (facts.childElementCount > 0) item.append(facts);
    });
  }
}
