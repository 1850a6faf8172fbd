// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/property_tree/xml_parser.hpp>
#include <sstream>
#include <string>
#include <vector>

// XML as a tree, for tests of pages and figures.

namespace ozbound::test {

using boost::property_tree::ptree;

inline ptree parse(const std::string& xml) {
  std::istringstream in(xml);
  ptree tree;
  read_xml(in, tree);
  return tree;
}

/// Collects every element with this name, at any depth.
inline void collect(const ptree& tree, const std::string& name, std::vector<const ptree*>& found) {
  for (const auto& [child, content] : tree) {
    if (child == name) found.push_back(&content);
    collect(content, name, found);
  }
}

inline std::vector<const ptree*> elements(const ptree& tree, const std::string& name) {
  std::vector<const ptree*> found;
  collect(tree, name, found);
  return found;
}

inline std::string attribute(const ptree& element, const std::string& name) {
  return element.get<std::string>("<xmlattr>." + name);
}
inline std::string attribute(const ptree& element, const std::string& name, const std::string& otherwise) {
  return element.get("<xmlattr>." + name, otherwise);
}

/// The text that a reader sees.
inline std::string text(const ptree& tree) {
  std::string out = tree.data();
  for (const auto& [name, content] : tree)
    if (name != "<xmlattr>") out += text(content);
  return out;
}

inline std::vector<std::string> texts(const ptree& tree, const std::string& name) {
  std::vector<std::string> out;
  for (const auto* element : elements(tree, name)) out.push_back(text(*element));
  return out;
}

}  // namespace ozbound::test
