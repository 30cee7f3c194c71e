/**
 * Runs right after each tab group, before it is painted. Shows the panel the reader chose last, or the first, and sets
 * the roles for assistive technology. client/article/tabs.ts makes the tabs work.
 */
{
  const tabs = document.currentScript?.previousElementSibling;
  if (tabs instanceof HTMLElement) {
    const panels = [...tabs.querySelectorAll<HTMLElement>('[data-panel]')];
    let chosen: string | null = null;
    try {
      chosen = localStorage.getItem(`tabs:${tabs.dataset.tabs}`);
    } catch {
      // Without storage the first panel is shown.
    }
    const visible = panels.find((panel) => panel.dataset.panel === chosen) ?? panels[0];
    tabs.dataset.ready = '';
    tabs.querySelector('.tab-list')?.setAttribute('role', 'tablist');
    tabs.querySelectorAll<HTMLElement>('[data-tab]').forEach((button, index) => {
      const panel = panels[index];
      if (!panel) return;
      const selected = panel === visible;
      button.id = `${tabs.id}-tab-${index}`;
      panel.id = `${tabs.id}-panel-${index}`;
      button.role = 'tab';
      button.ariaSelected = String(selected);
      button.tabIndex = selected ? 0 : -1;
      button.setAttribute('aria-controls', panel.id);
      panel.role = 'tabpanel';
      panel.setAttribute('aria-labelledby', button.id);
      panel.hidden = !selected;
    });
  }
}
