module projects

go 1.21
