// Draws the relation graph over the list that says the same. Without this script the page is complete.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("graph");
  const data = JSON.parse(document.getElementById("graph-data").textContent);
  const look = getComputedStyle(document.documentElement);
  const colour = (name) => look.getPropertyValue(name).trim();
  const kinds = {
    Character: ["ellipse", "--accent"], Location: ["round-rectangle", "--friendly"], Faction: ["hexagon", "--devoted"],
    Item: ["diamond", "--warn"], Quest: ["star", "--hostile"], Event: ["triangle", "--soft"],
    Party: ["pentagon", "--ink"],
  };
  const regards = {
    hostile: "--hostile", unfriendly: "--unfriendly", wary: "--unfriendly", neutral: "--neutral",
    warm: "--friendly", friendly: "--friendly", devoted: "--devoted",
  };
  const drawing = cytoscape({
    container: box,
    elements: [...data.nodes.map((node) => ({ data: node })), ...data.edges.map((edge) => ({ data: edge }))],
    minZoom: 0.2, maxZoom: 3,
    layout: { name: "cose", animate: false, padding: 24, nodeRepulsion: 400000, nodeOverlap: 24, idealEdgeLength: 110, gravity: 0.4, numIter: 1500, nodeDimensionsIncludeLabels: true },
    style: [
      { selector: "node", style: {
        "label": "data(name)", "font-size": 11, "color": colour("--ink"), "text-valign": "bottom", "text-margin-y": 4,
        "text-wrap": "wrap", "text-max-width": 110, "width": 22, "height": 22,
        "shape": (node) => (kinds[node.data("kind")] || kinds.Event)[0],
        "background-color": (node) => colour((kinds[node.data("kind")] || kinds.Event)[1]) } },
      { selector: "node[?center]", style: { "width": 36, "height": 36, "font-size": 14, "font-weight": "bold" } },
      { selector: "edge", style: {
        "width": 1.5, "line-color": colour("--line"), "target-arrow-color": colour("--soft"), "target-arrow-shape": "triangle",
        "arrow-scale": 0.8, "curve-style": "bezier", "label": data.edges.length < 60 ? "data(words)" : "", "font-size": 9,
        "color": colour("--soft"), "text-rotation": "autorotate", "text-background-color": colour("--sheet"),
        "text-background-opacity": 0.85, "text-background-padding": 2 } },
      { selector: "edge[label]", style: {
        "width": 2, "line-style": "dashed", "line-color": (edge) => colour(regards[edge.data("label")] || "--line"),
        "target-arrow-color": (edge) => colour(regards[edge.data("label")] || "--soft") } },
      { selector: ".faint", style: { "opacity": 0.2 } },
    ],
  });
  drawing.on("mouseover", "node", (event) => {
    drawing.elements().addClass("faint");
    event.target.closedNeighborhood().removeClass("faint");
  });
  drawing.on("mouseout", "node", () => drawing.elements().removeClass("faint"));
  drawing.on("tap", "node", (event) => {
    const { page, slug } = event.target.data();
    location.href = page || `${box.dataset.base}?around=${encodeURIComponent(slug)}`;
  });
  fill();
  // Stretch the layout to the shape of the box, then draw names and marks as large as if nothing had been zoomed out.
  function fill() {
    const taken = drawing.nodes().boundingBox({ includeLabels: false });
    const stretch = (box.clientWidth / box.clientHeight) / (taken.w / taken.h || 1);
    const [across, down] = stretch > 1 ? [stretch, 1] : [1, 1 / stretch];
    drawing.nodes().positions((node) => ({ x: node.position("x") * across, y: node.position("y") * down }));
    drawing.fit(undefined, 24);
    const size = 1 / drawing.zoom();
    if (size > 1.2) {
      drawing.nodes().style({ "font-size": 10 * size, "width": 14 * size, "height": 14 * size, "text-max-width": 90 * size, "text-margin-y": 3 * size });
      drawing.nodes("[?center]").style({ "font-size": 12 * size, "width": 22 * size, "height": 22 * size });
      drawing.edges().style({ "width": size, "arrow-scale": 0.7 * size, "font-size": 8 * size });
      drawing.fit(undefined, 16);
    }
  }
});
document.addEventListener("DOMContentLoaded", () => {
  const slider = document.getElementById("slider");
  if (!slider) return;
  slider.addEventListener("input", () => { document.getElementById("at").value = slider.value; });
  slider.addEventListener("change", () => document.getElementById("graph-form").requestSubmit());
});
