/** Runs in the page: how far things have moved after they were first painted. */
export function measureLayoutShift(): Promise<number> {
  return new Promise((resolve) => {
    let sum = 0;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) sum += 'value' in entry ? Number(entry.value) : 0;
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
  });
}
