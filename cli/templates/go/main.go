// Project selection (0/1 knapsack): the most valuable projects whose costs fit into a budget, by branch and bound.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"time"
)

type project struct {
	ID    string  `json:"id"`
	Value float64 `json:"value"`
	Cost  float64 `json:"cost"`
}

type input struct {
	Budget   float64   `json:"budget"`
	Projects []project `json:"projects"`
}

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// The search checks the clock once in so many nodes.
const nodesPerCheck = 4096

type search struct {
	projects []project
	deadline time.Time
	started  time.Time
	nodesMax int64
	nodes    int64
	stopped  bool
	chosen   []bool
	best     []bool
	value    float64
	points   []point
}

// bound returns the most value that projects from the given one on can add: their fractional knapsack, which needs them by
// value per cost.
func (s *search) bound(from int, budget float64, byDensity []int) float64 {
	total := 0.0
	for _, index := range byDensity {
		if index < from {
			continue
		}
		p := s.projects[index]
		if p.Cost > budget {
			return total + p.Value*budget/p.Cost
		}
		total += p.Value
		budget -= p.Cost
	}
	return total
}

func (s *search) visit(index int, budget, value float64, byDensity []int) {
	s.nodes++
	if s.nodes >= s.nodesMax || (s.nodes%nodesPerCheck == 0 && time.Now().After(s.deadline)) {
		s.stopped = true
	}
	if value > s.value {
		s.value = value
		copy(s.best, s.chosen)
		s.points = append(s.points, point{time.Since(s.started).Seconds(), value})
		fmt.Fprintf(os.Stderr, "{\"series\": {\"objective\": %g}}\n", value)
	}
	if s.stopped || index == len(s.projects) || value+s.bound(index, budget, byDensity) <= s.value+1e-9 {
		return
	}
	if p := s.projects[index]; p.Cost <= budget {
		s.chosen[index] = true
		s.visit(index+1, budget-p.Cost, value+p.Value, byDensity)
		s.chosen[index] = false
	}
	s.visit(index+1, budget, value, byDensity)
}

func main() {
	duration := flag.Float64("duration", 10, "seconds")
	nodes := flag.Int64("nodes", 100000000, "most nodes")
	order := flag.String("order", "density", "density or value")
	flag.Parse()
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintf(os.Stderr, "The input is not valid: %v.\n", err)
		os.Exit(1)
	}
	for _, p := range in.Projects {
		if p.Cost <= 0 {
			fmt.Fprintf(os.Stderr, "The project %s costs %g; a cost must be greater than 0.\n", p.ID, p.Cost)
			os.Exit(1)
		}
	}
	fmt.Fprintf(os.Stderr, "Selecting among %d projects.\n", len(in.Projects))

	density := func(p project) float64 { return p.Value / p.Cost }
	sort.SliceStable(in.Projects, func(a, b int) bool {
		if *order == "value" {
			return in.Projects[a].Value > in.Projects[b].Value
		}
		return density(in.Projects[a]) > density(in.Projects[b])
	})
	byDensity := make([]int, len(in.Projects))
	for index := range byDensity {
		byDensity[index] = index
	}
	sort.SliceStable(byDensity, func(a, b int) bool {
		return density(in.Projects[byDensity[a]]) > density(in.Projects[byDensity[b]])
	})
	started := time.Now()
	s := &search{
		projects: in.Projects,
		started:  started,
		deadline: started.Add(time.Duration(*duration * float64(time.Second))),
		nodesMax: *nodes,
		chosen:   make([]bool, len(in.Projects)),
		best:     make([]bool, len(in.Projects)),
		points:   []point{},
	}
	upper := s.bound(0, in.Budget, byDensity)
	s.visit(0, in.Budget, 0, byDensity)

	selected, cost := []string{}, 0.0
	for index, p := range s.projects {
		if s.best[index] {
			selected = append(selected, p.ID)
			cost += p.Cost
		}
	}
	if !s.stopped {
		upper = s.value
	}
	object := func(pairs ...any) map[string]any {
		result := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			result[pairs[i].(string)] = pairs[i+1]
		}
		return result
	}
	output := object(
		"options", object("duration", *duration, "nodes", *nodes, "order", *order),
		"solution", object("projects", selected, "cost", cost),
		"statistics", object(
			"schema", "v1",
			"run", object("duration", time.Since(started).Seconds(), "iterations", s.nodes),
			"result", object(
				"value", s.value,
				"custom", object("bound", upper, "is_optimal", !s.stopped, "projects", len(selected), "budget_left", in.Budget-cost),
			),
			"series_data", object("value", object("name", "value", "data_points", s.points)),
		),
	)
	if err := json.NewEncoder(os.Stdout).Encode(output); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
