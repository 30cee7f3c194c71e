async function ask(address: string): Promise<{ state: string; text: string }> {
  try {
    const answer = await fetch(address, { cache: 'no-store', headers: { accept: 'application/json' } });
    return answer.ok
      ? { state: 'well', text: 'answers: well' }
      : { state: 'unwell', text: `answers with ${answer.status}` };
  } catch {
    return { state: 'unwell', text: 'does not answer' };
  }
}

/** Fills in the server's own health on the status page. */
export function startServiceStatus(list: Element): void {
  for (const item of list.querySelectorAll<HTMLElement>('[data-address]')) {
    void ask(item.dataset.address ?? '').then(({ state, text }) => {
      const words = item.querySelector('span');
      if (words) words.textContent = text;
      item.dataset.state = state;
    });
  }
}
