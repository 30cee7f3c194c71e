/** The bodies of /healthz and /readyz. Every field may be missing, because a proxy may have sent the response. */
type HealthReport = {
  status?: string;
  reason?: string;
  version?: string;
  database?: string;
  containment?: string;
  runtimes?: Record<string, { available: boolean; version: string }>;
};

type HealthCheck = { isHealthy: boolean; text: string; report: HealthReport };

async function checkHealth(address: string): Promise<HealthCheck> {
  try {
    const response = await fetch(address, { cache: 'no-store', headers: { accept: 'application/json' } });
    const report: HealthReport = await response.json();
    const text = [report.status ?? `returns ${response.status}`, report.reason].filter(Boolean).join(': ');
    return { isHealthy: response.ok, text, report };
  } catch {
    return { isHealthy: false, text: 'does not respond', report: {} };
  }
}

/** Lists the facts of a readiness report as names with values. */
function listFacts({
  version,
  database,
  containment,
  runtimes,
}: HealthReport): { name: string; value: string }[] {
  const apps = Object.entries(runtimes ?? {})
    .filter(([, { available }]) => available)
    .map(([type, { version }]) => `${type} ${version}`.trim());
  const facts = [
    { name: 'API', value: version },
    { name: 'Database', value: database },
    { name: 'Containment of apps', value: containment },
    { name: 'Apps it can run', value: apps.join(', ') },
  ];
  return facts.flatMap(({ name, value }) => (value ? [{ name, value }] : []));
}

/** Fills in the server's health on the status page. */
export function startServiceStatus(list: Element): void {
  for (const item of list.querySelectorAll<HTMLElement>('[data-address]')) {
    void checkHealth(item.dataset.address ?? '').then(({ isHealthy, text, report }) => {
      const place = item.querySelector('span');
      if (place) place.textContent = text;
      item.dataset.state = isHealthy ? 'well' : 'unwell';
      const facts = document.createElement('ul');
      for (const { name, value } of listFacts(report)) {
        const fact = document.createElement('li');
        fact.textContent = `${name}: ${value}`;
        facts.append(fact);
      }
      if (facts.childElementCount > 0) item.append(facts);
    });
  }
}
