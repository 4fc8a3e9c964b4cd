const { exec } = require("child_process");
const express = require("express");

const app = express();

app.get("/label", (request, response) => {
  exec("lpr labels/" + request.query.order + ".txt", (error) => {
    response.send(error ? "failed" : "printed");
  });
});

app.get("/total", (request, response) => {
  response.json({ total: eval(request.query.sum) });
});

function showComment(comment) {
  document.getElementById("comments").innerHTML = comment.text;
}

module.exports = { app, showComment };
